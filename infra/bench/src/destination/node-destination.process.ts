import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

const [port, answer = '', certificateFile, keyFile] = process.argv.slice(2);
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) };

const respond: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, headers).end(answer);
};
const server =
  certificateFile && keyFile
    ? createTlsServer({ cert: readFileSync(certificateFile), key: readFileSync(keyFile) }, respond)
    : createServer(respond);
server.listen(Number(port), '127.0.0.1');
process.stdin.on('end', () => process.exit()).resume();
