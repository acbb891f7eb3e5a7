import type { AccessRule } from '@sluice/access';
import { useStack } from '@sluice/testing';
import { everything, reveal, startTestTokenVault } from '../testing/test-token-vault.ts';

const service = useStack(startTestTokenVault);
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

const own = '0d4a1f5e-54b0-4b2c-9c0a-0d6f6f0f7a11';
const other = '11111111-54b0-4b2c-9c0a-0d6f6f0f7a11';
const use = {
  ...{ proxies: [own], destinations: ['*.example.com'], methods: ['POST'], places: ['body'] },
  ...{ max_uses: 3, until: '2100-01-01T00:00:00.000Z' },
};
const without = (member: keyof typeof use) =>
  Object.fromEntries(Object.entries(use).filter(([name]) => name !== member));

const wider: [change: string, use: object | null][] = [
  ['removing it', null],
  ...Object.keys(use).map((member): [string, object] => [`leaving out ${member}`, without(member as keyof typeof use)]),
  ['a Proxy more', { ...use, proxies: [own, other] }],
  ['another Proxy', { ...use, proxies: [other] }],
  ['another host', { ...use, destinations: ['*.example.com', 'example.org'] }],
  ['a pattern that covers more', { ...use, destinations: ['*.com'] }],
  ['a method more', { ...use, methods: ['POST', 'GET'] }],
  ['a place more', { ...use, places: ['body', 'path'] }],
  ['more uses', { ...use, max_uses: 4 }],
  ['a later end', { ...use, until: '2100-01-01T00:00:00.001Z' }],
  ['one narrower and one wider', { ...use, max_uses: 1, methods: ['POST', 'GET'] }],
];

const narrower: [change: string, use: object][] = [
  ['the same', use],
  ['the same in another spelling', { ...use, methods: ['post'], proxies: [own.toUpperCase()] }],
  ['one host of the pattern', { ...use, destinations: ['a.example.com'] }],
  ['fewer uses', { ...use, max_uses: 1 }],
  ['an earlier end', { ...use, until: '2099-01-01' }],
];

const sight = (transform: AccessRule['transform']): AccessRule => ({ ...reveal, transform });

async function createScene() {
  const { createTenant, createApplication, createSession, createKey, send } = service.current;
  const tenantId = await createTenant();
  const owner = await createApplication({ tenantId, rules: [reveal] });
  const keys = {
    'a private Application to which a rule reveals it': owner.key,
    'a private Application that sees it masked': await createKey({ tenantId, rules: [sight('mask')] }),
    'a private Application that may use it': await createKey({ tenantId, permissions: everything }),
    'a private Application that may only change it': await createKey({ tenantId, permissions: ['token:update'] }),
    'a public Application to which a rule reveals it': await createKey({ tenantId, type: 'public', rules: [reveal] }),
    'a session to which a rule reveals it': (await createSession(owner)).key,
  };
  const { body: token } = await send('POST', '/tokens', { key: owner.key, body: { data: 'v', use } });
  const patch = (key: string, body: object) => send('PATCH', `/tokens/${token.id}`, { key, body, headers: mergePatch });
  const stored = async () => (await send('GET', `/tokens/${token.id}`, { key: owner.key })).body;
  return { keys, patch, token, stored, tenantId };
}

type Caller = keyof Awaited<ReturnType<typeof createScene>>['keys'];

const entitled: Caller = 'a private Application to which a rule reveals it';
const others: Caller[] = [
  'a private Application that sees it masked',
  'a private Application that may use it',
  'a private Application that may only change it',
  'a public Application to which a rule reveals it',
  'a session to which a rule reveals it',
];

/** Who does not see the token learns nothing of its `use`. */
const named: Partial<Record<Caller, RegExp>> = {
  'a private Application that may only change it': /^use: this change would allow more/,
};

describe.each(others)('%s', (caller) => {
  test.each(wider)('may not allow more: %s is 403 and changes nothing', async (_, wanted) => {
    const { keys, patch, token, stored } = await createScene();
    expect(await patch(keys[caller], { use: wanted, metadata: { a: 'b' } })).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(named[caller] ?? /^use\.\w+: this change would allow more/) },
    });
    expect(await stored()).toEqual(token);
  });

  test.each(narrower)('may allow less: %s', async (_, wanted) => {
    const { keys, patch } = await createScene();
    expect((await patch(keys[caller], { use: wanted })).status).toBe(200);
  });

  test('may bind a token that is bound to nothing, and then no longer free it', async () => {
    const { keys, patch, stored } = await createScene();
    expect((await patch(keys[entitled], { use: null })).status).toBe(200);
    expect((await patch(keys[caller], { use: { max_uses: 1 } })).status).toBe(200);
    expect((await patch(keys[caller], { use: null })).status).toBe(403);
    expect((await stored()).use).toEqual({ max_uses: 1 });
  });
});

test.each(wider)('the control: a private Application to which a rule reveals it may: %s', async (_, wanted) => {
  const { keys, patch, stored } = await createScene();
  expect((await patch(keys[entitled], { use: wanted })).status).toBe(200);
  expect((await stored()).use).toEqual(wanted ?? undefined);
});
