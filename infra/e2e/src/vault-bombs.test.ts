import { call } from '@sluice/testing';
import type { Platform, TenantClient } from './platform.ts';
import {
  type Ask,
  type Attacked,
  attack,
  expectOthersServed,
  largeText,
  mebibyte,
  statusOf,
} from './under-load/hostile-tenants.ts';

/** Requests to the token vault whose bodies, answers or parsed data are large. */
/** What the manifests give a token vault, and the heap that Node takes of it, in MiB. */
const memoryLimit = 512;
const heapLimit = 256;

const permissions = ['token:create', 'token:read', 'token:update'];
const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }];
/** Parsed, it takes twenty times its size. */
const objects: object[] = Array(349_000).fill({});

/** Answers are read late, as by a slow client. */
const readLateMs = 300;

async function prepare(tenant: TenantClient, { stack }: Platform): Promise<Ask[]> {
  const { tokenVault } = stack.serviceUrls;
  const { key } = await tenant.createApplication({ rules });
  const bomb = (method: string, path: string, body?: string) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const request = { method, headers: { 'SVC-API-KEY': key, 'Content-Type': type }, ...(body && { body }) };
    return () => statusOf(tokenVault + path, request, readLateMs);
  };
  const createEight = async (data: unknown) => {
    const ids: string[] = [];
    while (ids.length < 8) {
      const { status, body } = await call(tokenVault, 'POST', '/tokens', { key, body: { data } });
      expect(status).toBe(201);
      ids.push(body.id);
    }
    return ids;
  };
  const texts = await createEight(largeText);
  const parsed = await createEight(objects);
  const [ofText, ofObjects] = [largeText, objects].map((data) => JSON.stringify({ data }));
  const named = (ids: string[], filter = '') => JSON.stringify(ids.map((id) => `{{ ${id}${filter} }}`));
  const list = (ids: string[]) => bomb('GET', `/tokens?size=7&id=${ids.join()}`);
  return [
    list(texts),
    list(parsed),
    bomb('POST', '/tokens', ofText),
    bomb('POST', '/tokens', ofObjects),
    bomb('POST', '/detokenize', named(texts.slice(0, 4))),
    bomb('POST', '/detokenize', named(parsed, " | json: '$.a'")),
    bomb('PATCH', `/tokens/${parsed[0]}`, JSON.stringify({ metadata: { a: 'b' } })),
    bomb('POST', '/tokenize', JSON.stringify({ a: objects })),
  ];
}

async function good({ createApplication, stack }: Platform): Promise<Ask> {
  const { key } = await createApplication({ name: 'good', type: 'private', rules });
  const { tokenVault } = stack.serviceUrls;
  return async () => {
    const created = await call(tokenVault, 'POST', '/tokens', { key, body: { data: 'a' } });
    if (created.status !== 201) return created.status;
    return (await call(tokenVault, 'GET', '/tokens?size=5', { key })).status;
  };
}

const attackVault = (settings: Record<string, string>, enough = Infinity): Promise<Attacked> =>
  attack({ settings, prepare, good, enough });

test('bombs of three Tenants leave a token vault below its memory, and a fourth Tenant is answered as ever', async () => {
  const attacked = await attackVault({
    BODY_HELD_BYTES: `${Math.floor(0.25 * memoryLimit * mebibyte)}`,
    BODY_WAIT_MS: '5000',
    NODE_OPTIONS: `--max-old-space-size=${heapLimit}`,
  });
  expect(attacked.vaultPeak).toBeLessThan(memoryLimit);
  // Served, refused as too much, or told to come again
  expectOthersServed(attacked, [200, 201, 400, 413, 503]);
});

test('the control: without that bound the same bombs take more', async () => {
  const { vaultPeak } = await attackVault({ BODY_HELD_BYTES: `${64 * memoryLimit * mebibyte}` }, memoryLimit);
  expect(vaultPeak).toBeGreaterThan(memoryLimit);
});
