import { randomUUID } from 'node:crypto';
import { useStack } from '@sluice/testing';
import type { TokenUse } from '@sluice/vault';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const rules = [{ priority: 1, container: '/pci/', transform: 'redact', permissions: ['token:use'] }];
const request_transform = { code: 'module.exports = async (req) => req.args' };

interface Part {
  use?: TokenUse;
  uses?: number;
  proxy?: object;
  application?: object;
  question?: object;
}

/** Asks whether an Application may POST a token to a new Proxy that calls example.com. */
async function ask({ use, uses = 0, proxy, application, question }: Part) {
  const { id: proxy_id } = await api.current.proxy(proxy);
  const { id } = await api.current.application({ permissions: [], rules, ...application });
  const token_id = await api.current.token({ ...(use && { use }), uses });
  const body = { proxy_id, method: 'POST', path: '/', token_id, ...question };
  const explain = () => api.current.send('POST', `/applications/${id}/explain`, { body });
  return { token_id, explain, answer: (await explain()).body };
}

const byRule = { allowed: true, decided_by: { rule: 0 }, reason: expect.any(String) };
const by = (token: string, reason: string) => ({ allowed: false, decided_by: { token }, reason });
const sent = 'The token may be sent to certain destinations only, and';

test.each<[TokenUse, Part]>([
  [{ destinations: ['example.com'] }, {}],
  [{ destinations: ['*.example.com'] }, { proxy: { destination_url: 'https://api.example.com:8443/v1' } }],
  [{ methods: ['POST'] }, { question: { method: 'post' } }],
  [{ places: ['header:x-card'] }, { question: { place: 'header:X-Card' } }],
  [{ places: ['query'] }, {}],
  [{ max_uses: 2 }, { uses: 1 }],
  [{ until: '2999-01-01T00:00:00.000Z' }, {}],
  [{ methods: ['POST'] }, { proxy: { request_transform } }],
])('%j allows it (%#)', async (use, part) => {
  expect((await ask({ use, ...part })).answer).toEqual(byRule);
});

test.each<[TokenUse, Part, string]>([
  [{ proxies: [randomUUID()] }, {}, 'The token may be used by certain Proxies only, and this is none of them'],
  [{ destinations: ['*.example.com'] }, {}, `${sent} example.com is none of them`],
  [
    { destinations: ['example.com'] },
    { proxy: { request_transform } },
    `${sent} the code of the request transform could send it to others`,
  ],
  [{ methods: ['GET', 'PUT'] }, {}, 'The token may be sent with certain methods only, and POST is none of them'],
  [
    { places: ['body', 'header:x-card'] },
    { question: { place: 'header:x-other' } },
    'The token may be used in certain places only, and header:x-other is none of them',
  ],
  [{ max_uses: 2 }, { uses: 2 }, 'The token has no use left'],
  [{ until: '2020-01-01T00:00:00.000Z' }, { uses: 1 }, 'The time in which the token may be used is over'],
])('%j refuses it (%#)', async (use, part, reason) => {
  const [member] = Object.keys(use);
  expect((await ask({ use, ...part })).answer).toEqual(by(`use.${member}`, `${reason} (use.${member} of the token).`));
});

test('the Proxy of its list may use it', async () => {
  const { id: proxy_id } = await api.current.proxy();
  expect((await ask({ use: { proxies: [proxy_id] }, question: { proxy_id } })).answer).toEqual(byRule);
});

test('of several members that refuse, the first of the reference is named, and max_uses last', async () => {
  const use: TokenUse = { methods: ['GET'], max_uses: 1, until: '2020-01-01T00:00:00.000Z' };
  const { answer } = await ask({ use, uses: 1 });
  expect(answer.decided_by).toEqual({ token: 'use.methods' });
  const { answer: later } = await ask({ use, uses: 1, question: { method: 'GET' } });
  expect(later.decided_by).toEqual({ token: 'use.until' });
});

test('what the caller lacks is said before the use of the token', async () => {
  const use: TokenUse = { methods: ['GET'] };
  const { answer: ofProxy } = await ask({ use, proxy: { allowed_methods: ['PUT'] } });
  expect(ofProxy.decided_by).toEqual({ proxy: 'allowed_methods' });
  const { answer: ofRules } = await ask({ use, application: { permissions: ['token:create'], rules: [] } });
  expect([ofRules.allowed, ofRules.decided_by]).toEqual([false, undefined]);
});

test('uses are read when it is asked, and asking counts none', async () => {
  const { db } = api.current;
  const { token_id, explain } = await ask({ use: { max_uses: 1 } });
  expect((await explain()).body.allowed).toBe(true);
  const counted = await db.selectFrom('tokens').select('uses').where('id', '=', token_id).executeTakeFirstOrThrow();
  expect(counted.uses).toBe(0);
  await db.updateTable('tokens').set({ uses: 1 }).where('id', '=', token_id).execute();
  expect((await explain()).body.decided_by).toEqual({ token: 'use.max_uses' });
});

test('a question about the token alone is not judged by its use, because that binds calls', async () => {
  const { id } = await api.current.application({ permissions: [], rules });
  const token_id = await api.current.token({ use: { methods: ['GET'], max_uses: 1 }, uses: 1 });
  const body = { token_id, operation: 'token:use' };
  const { body: answer } = await api.current.send('POST', `/applications/${id}/explain`, { body });
  expect(answer).toMatchObject({ allowed: true, decided_by: { rule: 0 } });
});
