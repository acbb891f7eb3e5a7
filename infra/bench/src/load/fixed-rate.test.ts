import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixedRate } from './fixed-rate.ts';

const requestsPerSecond = 200;

/** Loads a server for two seconds, of which the second one counts. */
async function loadServer(respond: RequestListener) {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'fixed-rate-'));
  opened.defer(() => rm(directory, { recursive: true }));
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => server.closeAllConnections());
  opened.defer(() => void server.close());
  const request = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a`, headers: {}, body: '{}' };
  return await fixedRate(requestsPerSecond, directory).run(request, 1, new AbortController().signal);
}

describe('load at a fixed rate', () => {
  test('a request that waited for a free connection waited since it was due', async () => {
    const held: (() => void)[] = [];
    let isHolding = true;
    let count = 0;
    const { p50Ms, errors } = await loadServer((_, response) => {
      count += 1;
      if (!isHolding) response.end();
      else held.push(() => response.end());
      if (count > 1) return;
      setTimeout(() => {
        isHolding = false;
        for (const release of held) release();
      }, 2000);
    });
    // Half of the counted requests were due at least half a second before the server answered anything
    expect(p50Ms).toBeGreaterThan(400);
    expect(errors).toBe(0);
    expect(count).toBe(2 * requestsPerSecond);
  });

  test('answers that are no success are errors, as connections that break are', async () => {
    let count = 0;
    const { errors } = await loadServer((request, response) => {
      count += 1;
      if (count === 1) response.writeHead(500).end();
      else if (count === 2) request.socket.destroy();
      else response.end();
    });
    expect(errors).toBe(2);
  });
});
