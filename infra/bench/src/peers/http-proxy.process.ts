import { Agent, createServer } from 'node:http';
import httpProxy from 'http-proxy';
import { listen } from './listen.ts';

const [target] = process.argv.slice(2);
const proxy = httpProxy.createProxyServer({ target, agent: new Agent({ keepAlive: true }) });

listen(
  createServer((request, response) => {
    proxy.web(request, response, {}, (error) => response.writeHead(502).end(String(error)));
  }),
);
