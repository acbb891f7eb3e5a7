import type { Platform } from './platform.ts';
import { type Ask, type Attacked, attack, type Bomb, type HostileTenant } from './under-load/hostile-tenants.ts';

/** Requests to the token vault whose bodies, answers or parsed data are large. */
jest.setTimeout(240_000);

const mebibyte = 2 ** 20;
/** What the manifests give a token vault, and the heap that Node takes of it. */
const memoryLimit = 512 * mebibyte;
const heapMebibytes = 256;

const permissions = ['token:create', 'token:read', 'token:update'];
const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }];
const text = 'x'.repeat(mebibyte - 100);
/** Parsed, it takes twenty times its size. */
const objects: object[] = Array(349_000).fill({});

/** Answers are read late, as by a slow client. */
const readLateMs = 300;

async function prepare(tenant: HostileTenant, { stack }: Platform): Promise<Bomb[]> {
  const { tokenVault } = stack.serviceUrls;
  const { key } = await tenant.createApplication({ rules });
  const send = async (method: string, path: string, body?: string): Promise<Response> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { 'SVC-API-KEY': key, 'Content-Type': type };
    return fetch(tokenVault + path, { method, headers, ...(body !== undefined && { body }) });
  };
  const bomb = (method: string, path: string, body?: string) => async () => {
    const answer = await send(method, path, body);
    await new Promise((resolve) => setTimeout(resolve, readLateMs));
    await answer.arrayBuffer();
    return answer.status;
  };
  const [ofText, ofObjects] = [text, objects].map((data) => JSON.stringify({ data }));
  const create = async (body = ''): Promise<string> => {
    const answer = await send('POST', '/tokens', body);
    if (answer.status !== 201) throw new Error(`POST /tokens: ${answer.status}`);
    return ((await answer.json()) as { id: string }).id;
  };
  const texts: string[] = [];
  const parsed: string[] = [];
  for (let n = 0; n < 8; n++) texts.push(await create(ofText));
  for (let n = 0; n < 8; n++) parsed.push(await create(ofObjects));
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

/** The good Tenant makes and reads a token. */
async function good({ createApplication, stack }: Platform): Promise<Ask> {
  const { key } = await createApplication({ name: 'good', type: 'private', rules });
  const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
  const url = `${stack.serviceUrls.tokenVault}/tokens`;
  const body = JSON.stringify({ data: 'a' });
  return async () => {
    const created = await fetch(url, { method: 'POST', headers, body });
    if (created.status !== 201) return created.status;
    const answer = await fetch(`${url}?size=5`, { headers });
    await answer.text();
    return answer.status;
  };
}

async function attackVault(settings: Record<string, string>): Promise<Attacked> {
  const attacked = await attack({ settings, prepare, good });
  const { vaultPeakBytes, goodStatuses, goodP99Ms, bombStatuses } = attacked;
  console.info(
    `peak ${Math.round(vaultPeakBytes / mebibyte)} MiB, good Tenant ${goodStatuses.length} answers, p99 ${goodP99Ms} ms, ` +
      `bombs ${JSON.stringify(bombStatuses)}`,
  );
  return attacked;
}

test('bombs of three Tenants leave a token vault below its memory, and a fourth Tenant is answered as ever', async () => {
  const { vaultPeakBytes, goodStatuses, bombStatuses } = await attackVault({
    BODY_HELD_BYTES: `${Math.floor(0.25 * memoryLimit)}`,
    NODE_OPTIONS: `--max-old-space-size=${heapMebibytes}`,
  });
  expect(vaultPeakBytes).toBeLessThan(memoryLimit);
  expect(new Set(goodStatuses)).toEqual(new Set([200]));
  expect(goodStatuses.length).toBeGreaterThan(20);
  // Served, refused as too much, or told to come again; never cut off.
  for (const status of Object.keys(bombStatuses)) expect(['200', '201', '400', '413', '503']).toContain(status);
});

test('the control: without that bound the same bombs take more', async () => {
  const { vaultPeakBytes } = await attackVault({ BODY_HELD_BYTES: `${64 * memoryLimit}` });
  expect(vaultPeakBytes).toBeGreaterThan(memoryLimit);
});
