import { createServer } from 'node:http';
import { listen } from '../peers/listen.ts';
import { writeBody } from './write-body.ts';

const size = Number(process.argv[2]);

/** GET returns a body of the size; any other method takes one, and is answered with the number of bytes received. */
listen(
  createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': size });
      writeBody(response, size);
      return;
    }
    let received = 0;
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    request.on('end', () => response.end(String(received)));
  }),
);
