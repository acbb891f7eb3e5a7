import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../peers/listen.ts';
import { tenValues } from './ten-values.ts';
import { textWithBeginnings } from './text-with-beginnings.ts';

const text = textWithBeginnings(Number(process.argv[2]), tenValues);

/** Answers with the text, and at `/echo` with the body that it received. */
listen(
  createServer(async (request, response) => {
    const received = await buffer(request);
    const body = request.url === '/echo' ? received : text;
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
  }),
);
