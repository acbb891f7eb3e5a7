import { Agent, createServer } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import httpProxy from 'http-proxy';
import { listen } from './listen.ts';

const [target = ''] = process.argv.slice(2);
const agent = new (target.startsWith('https:') ? TlsAgent : Agent)({ keepAlive: true });
const proxy = httpProxy.createProxyServer({ target, agent });

listen(
  createServer((request, response) => {
    proxy.web(request, response, {}, (error) => response.writeHead(502).end(String(error)));
  }),
);
