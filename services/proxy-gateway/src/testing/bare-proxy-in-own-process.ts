// Runs plain http-proxy in front of the origin in its first argument, and sends it the bytes in its second one.
import HttpProxy from 'http-proxy';
import { exchange, startFront } from './destination-servers.ts';

const [, , target = '', bytes = ''] = process.argv;
const proxy = HttpProxy.createProxyServer({ target });
const front = await startFront((incoming, response) => proxy.web(incoming, response, {}, () => response.destroy()));
await exchange(front, bytes);
process.stdout.write('survived');
process.exit();
