import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { listen } from '../peers/listen.ts';

const [port, answer = '', certificateFile, keyFile] = process.argv.slice(2);
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) };

const respond: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, headers).end(answer);
};
listen(
  certificateFile && keyFile
    ? createTlsServer({ cert: readFileSync(certificateFile), key: readFileSync(keyFile) }, respond)
    : createServer(respond),
  Number(port),
);
