import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { passOverContinue } from './pass-over-continue.ts';

async function readOf(writes: readonly string[], expectsHead = true): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [peer]: Socket[] = await once(server, 'connection');
  const expectHead = passOverContinue(socket);
  if (expectsHead) expectHead();
  let text = '';
  socket.on('readable', () => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) text += chunk.toString('latin1');
  });
  for (const bytes of writes) {
    const before = socket.bytesRead;
    peer?.write(bytes, 'latin1');
    while (socket.bytesRead < before + bytes.length) await once(socket, 'readable');
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
  server.close();
  peer?.destroy();
  return text;
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
const go = 'HTTP/1.1 100 Continue\r\n\r\n';

test.each([
  ['none', [ok], ok],
  ['one', [go + ok], ok],
  ['several, with headers', [`${go}HTTP/1.0 100 Go\r\nX: 1\r\n\r\n${ok}`], ok],
  ['one that comes by itself', [go, ok], ok],
  ['one in two parts', ['HTTP/1.1 100 Co', `ntinue\r\n\r\n${ok}`], ok],
  ['one cut in its version', ['HTTP/', `1.1 100 Continue\r\n\r\n${ok}`], ok],
  [
    'a head that begins like it',
    ['HTTP/1.1 10', `3 Early Hints\r\n\r\n${ok}`],
    `HTTP/1.1 103 Early Hints\r\n\r\n${ok}`,
  ],
  ['what is no HTTP', ['SSH-2.0'], 'SSH-2.0'],
  ['one that does not end like a head', ['HTTP/1.1 100 Continue\n\n'], 'HTTP/1.1 100 Continue\n\n'],
])('%s: the reader gets the answer', async (_name, writes, expected) => {
  expect(await readOf(writes)).toBe(expected);
});

test('one that never ends is handed on at 16 KiB, and not held for ever', async () => {
  const endless = `HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(17 * 1024)}`;
  expect(await readOf([endless])).toBe(endless);
});

test('where no head is expected, nothing is looked at', async () => {
  expect(await readOf([go], false)).toBe(go);
});
