import { randomBytes } from 'node:crypto';
import { ServiceError } from '@sluice/problems';
import { startTransitServer, type TransitFault, type TransitServer } from '../testing/transit-server.ts';
import type { RootKeys } from './key-wrapper.ts';
import { transitRootKeys } from './transit-key-wrapper.ts';

interface Setting {
  server: TransitServer;
  wrapper: RootKeys;
  lines: { detail: object; message: string }[];
}

const timeoutMs = 1500;

async function withServer(work: (setting: Setting) => Promise<void>, options: { token?: string; key?: string } = {}) {
  await using stack = new AsyncDisposableStack();
  const server = await startTransitServer(stack);
  const lines: Setting['lines'] = [];
  const write = (detail: object, message: string) => void lines.push({ detail, message });
  const { address, token, mount, key } = server;
  const wrapper = transitRootKeys({
    ...{ address, token, mount, key, timeoutMs, log: { error: write, info: write } },
    ...options,
  });
  await work({ server, wrapper, lines });
}

const context = 'tenant/token_data/1';
const key = randomBytes(32);
const unavailable = expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 1 });

test('unwraps what it wrapped, in the same context only; the server never gets the context as a path', () =>
  withServer(async ({ server, wrapper }) => {
    const { wrapped, keyId } = await wrapper.wrap(key, context);
    expect(keyId).toBe('vault-transit:transit/sluice:v1');
    expect(wrapped.toString()).toMatch(/^vault:v1:/);
    expect((await wrapper.unwrap(wrapped, { context, keyId })).equals(key)).toBe(true);
    await expect(wrapper.unwrap(wrapped, { context: 'tenant/token_data/2', keyId })).rejects.not.toThrow(ServiceError);
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/transit/encrypt/sluice',
      'POST /v1/transit/decrypt/sluice',
      'POST /v1/transit/decrypt/sluice',
    ]);
  }));

test('the id follows the version of the key; what older versions wrapped opens', () =>
  withServer(async ({ server, wrapper }) => {
    const before = await wrapper.wrap(key, context);
    server.rotate();
    const after = await wrapper.wrap(key, context);
    expect([before.keyId, after.keyId, await wrapper.currentKeyId()]).toEqual([
      'vault-transit:transit/sluice:v1',
      'vault-transit:transit/sluice:v2',
      'vault-transit:transit/sluice:v2',
    ]);
    for (const { wrapped, keyId } of [before, after]) {
      expect((await wrapper.unwrap(wrapped, { context, keyId })).equals(key)).toBe(true);
    }
  }));

test('a changed ciphertext, another key of the engine, and a text that is none are refused, and not as unavailable', () =>
  withServer(async ({ server, wrapper }) => {
    const { wrapped, keyId } = await wrapper.wrap(key, context);
    const text = wrapped.toString();
    const last = text.endsWith('AA==') ? 'BB==' : 'AA==';
    const changed = [`${text.slice(0, -4)}${last}`, text.replace('v1', 'v7'), text.slice(0, 20), 'local bytes', ''];
    for (const one of changed) {
      const refused = wrapper.unwrap(Buffer.from(one), { context, keyId });
      await expect(refused).rejects.toThrow();
      await expect(refused).rejects.not.toEqual(unavailable);
    }
    server.replaceVersion(1);
    await expect(wrapper.unwrap(wrapped, { context, keyId })).rejects.toThrow('refuses to decrypt it (400)');
    const asked = server.requests.length;
    await expect(wrapper.unwrap(wrapped, { context, keyId: 'vault-transit:transit/other:v1' })).rejects.toThrow(
      'by a root key that the settings do not give',
    );
    expect(server.requests).toHaveLength(asked);
  }));

test.each<TransitFault>(['unavailable', 'sealed', 'reset'])('%s once is not noticed', (fault) =>
  withServer(async ({ server, wrapper, lines }) => {
    const { wrapped, keyId } = await wrapper.wrap(key, context);
    server.faults.next = [fault];
    expect((await wrapper.unwrap(wrapped, { context, keyId })).equals(key)).toBe(true);
    expect(server.requests).toHaveLength(3);
    expect(lines).toEqual([]);
  }),
);

test.each<[TransitFault, tries: number, reason: RegExp]>([
  ['unavailable', 2, /answers 500/],
  ['sealed', 2, /answers 503/],
  ['reset', 2, /connection failed \(/],
  ['long', 2, /has more than 65536 bytes/],
  ['slow', 1, /did not answer in time/],
  ['limited', 1, /limits our rate/],
  ['redirect', 1, /redirects elsewhere/],
  ['garbage', 1, /not from a transit engine/],
])('%s all the time is 503 with Retry-After for every call, and one line for the operator', (fault, tries, reason) =>
  withServer(async ({ server, wrapper, lines }) => {
    const { wrapped, keyId } = await wrapper.wrap(key, context);
    server.faults.all = fault;
    const calls = [
      () => wrapper.unwrap(wrapped, { context, keyId }),
      () => wrapper.wrap(key, context),
      () => wrapper.currentKeyId(),
    ];
    for (const call of calls) {
      const before = server.requests.length;
      await expect(call()).rejects.toEqual(unavailable);
      expect(server.requests).toHaveLength(before + tries);
    }
    expect(lines).toEqual([
      { detail: expect.objectContaining({ reason: expect.stringMatching(reason) }), message: expect.any(String) },
    ]);
    server.faults.all = 'none';
    await wrapper.currentKeyId();
    expect(lines.map(({ message }) => message)).toEqual(['the key service cannot be used', 'the key service is back']);
    expect(JSON.stringify(lines)).not.toContain(server.token);
  }),
);

test('a second try that is slow does not add to the time', () =>
  withServer(async ({ server, wrapper }) => {
    server.faults.next = ['unavailable', 'slow'];
    await expect(wrapper.currentKeyId()).rejects.toEqual(unavailable);
    expect(server.requests).toHaveLength(2);
  }));

test('a connection that is refused is 503', () =>
  withServer(async ({ server, wrapper, lines }) => {
    await server.close();
    await expect(wrapper.wrap(key, context)).rejects.toEqual(unavailable);
    expect(lines).toEqual([
      {
        detail: expect.objectContaining({ reason: expect.stringContaining('ECONNREFUSED') }),
        message: expect.any(String),
      },
    ]);
  }));

test('a token that is refused is 503; the operator reads so, and neither log nor error has the token', () =>
  withServer(
    async ({ wrapper, lines }) => {
      const error: unknown = await wrapper.wrap(key, context).catch((thrown: unknown) => thrown);
      expect(error).toEqual(unavailable);
      expect(lines).toEqual([
        {
          detail: expect.objectContaining({ status: 403, reason: expect.stringContaining('VAULT_TOKEN is refused') }),
          message: expect.any(String),
        },
      ]);
      expect(JSON.stringify(lines) + String((error as Error).stack)).not.toContain('hvs.expired');
    },
    { token: 'hvs.expired' },
  ));

test('a key or engine that is not there is 503 where something is to be wrapped', () =>
  withServer(
    async ({ wrapper, lines }) => {
      await expect(wrapper.wrap(key, context)).rejects.toEqual(unavailable);
      await expect(wrapper.currentKeyId()).rejects.toEqual(unavailable);
      expect(JSON.stringify(lines)).toContain('cannot encrypt with this transit engine and key');
    },
    { key: 'other' },
  ));
