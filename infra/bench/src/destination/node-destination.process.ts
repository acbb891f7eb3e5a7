import { createServer } from 'node:http';

const [port, answer = ''] = process.argv.slice(2);
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) };

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, headers).end(answer);
});
server.listen(Number(port), '127.0.0.1');
process.stdin.on('end', () => process.exit()).resume();
