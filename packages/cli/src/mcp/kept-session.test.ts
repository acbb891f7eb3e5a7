import { Sluice } from '@sluice/sdk';
import { UsageError } from '../failure.ts';
import type { RouteSession } from '../routes/open-route-session.ts';
import { KeptSession } from './kept-session.ts';

const { signal } = new AbortController();
const session = (end = async () => {}): RouteSession => ({
  ...{ id: 's', key: 'k', container: '/agents/x/', expiresAt: new Date(0), end },
  client: new Sluice({ baseUrl: 'http://localhost', apiKey: 'k' }),
});

test('is tried again by the next call if it could not be made', async () => {
  const faults = [new UsageError('a route is gone')];
  const kept = new KeptSession(async () => {
    const fault = faults.pop();
    if (fault) throw fault;
    return session();
  });
  await expect(kept.use(async ({ id }) => id, signal)).rejects.toThrow('a route is gone');
  expect(await kept.use(async ({ id }) => id, signal)).toBe('s');
});

test('that is being made when the client leaves is ended, and no other is made', async () => {
  let ended = 0;
  const made = Promise.withResolvers<RouteSession>();
  const kept = new KeptSession(() => made.promise);
  const used = kept.use(async ({ id }) => id, signal);
  const closing = kept.close();
  made.resolve(session(async () => void ended++));
  await Promise.all([used, closing]);
  expect(ended).toBe(1);
  await expect(kept.use(async ({ id }) => id, signal)).rejects.toThrow('ending');
});

test('is not made any further when the client leaves', async () => {
  const kept = new KeptSession(
    (ending) => new Promise((_made, stopped) => ending.addEventListener('abort', () => stopped(ending.reason))),
  );
  const used = expect(kept.use(async ({ id }) => id, signal)).rejects.toThrow('ending');
  await kept.close();
  await used;
});

test('that could not be deleted is reported', async () => {
  const kept = new KeptSession(async () => session(() => Promise.reject(new Error('away'))));
  await kept.use(async ({ id }) => id, signal);
  await expect(kept.close()).rejects.toThrow('away');
});
