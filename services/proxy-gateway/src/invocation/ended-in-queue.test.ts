import { tagOf } from '@sluice/cache-coherence';
import { eventually, serveHttp, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import {
  createRows,
  type Happening,
  happen,
  nothing,
  proxyDeleted,
  revoked,
  send,
  value,
} from '../testing/rights-that-end.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import type { ProxyParts } from '../testing/test-tenant.ts';

/** One call holds the only connection to a destination, and something happens while another waits for it. */
const gateway = useStack(async (stack) => {
  const started = await startTestGateway(stack, { DESTINATION_MAX_CONNECTIONS: '1' });
  const asked: { body: string; answer: () => void }[] = [];
  const holding = await serveHttp(stack, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    asked.push({ body: Buffer.concat(chunks).toString(), answer: () => response.end('{}') });
  });
  return { ...started, holding, asked };
});

const tokenDeleted: Happening = async ({ db, tenant }, { token }) => {
  await db.deleteFrom('tokens').where('id', '=', token).execute();
  return [tagOf.token(tenant.id, token)];
};
const tokenMadeAnew: Happening = async (scene, ids) => {
  const tags = await tokenDeleted(scene, ids);
  await scene.tenant.token({ id: ids.token, data: 'another value' });
  return tags;
};
const tokenMoved: Happening = async ({ db, tenant }, { token }) => {
  const changed = { modified_at: new Date().toISOString(), containers: ['/elsewhere/'] };
  await db.updateTable('tokens').set(changed).where('id', '=', token).execute();
  return [tagOf.token(tenant.id, token)];
};
const otherTokenDeleted: Happening = async (scene, ids) =>
  tokenDeleted(scene, { ...ids, token: await scene.tenant.token({ data: 'other' }) });
/** Expiries are not announced. */
const expired =
  (table: 'tokens' | 'applications'): Happening =>
  async ({ db }, { application, token }) => {
    const id = table === 'tokens' ? token : application;
    const isPast = sql<boolean>`expires_at <= clock_timestamp()`;
    await eventually('its end', async () => {
      return (await db.selectFrom(table).select('id').where('id', '=', id).where(isPast).execute()).length === 1;
    });
    return [];
  };
const soon = () => new Date(Date.now() + 3_000);

interface Case {
  parts?: Partial<ProxyParts>;
  rows?: () => Parameters<typeof createRows>[2];
  text?: string;
  hasKey?: boolean;
}

async function answerAfter(happens: Happening, { parts, rows, text, hasKey = true }: Case = {}) {
  const { holding, asked, metrics } = gateway.current;
  const first = await createRows(gateway.current, { destination: holding });
  const { application, proxy, token, ids } = await createRows(
    gateway.current,
    { destination: holding, ...parts },
    rows?.(),
  );
  const before = asked.length;
  const body = JSON.stringify([text ?? `{{ ${token} }}`]);
  const holder = send(gateway.current, { key: first.application.key, proxyKey: first.proxy.key, body: '[]' });
  await eventually('the first call', () => asked.length === before + 1);
  const waiting = send(gateway.current, { proxyKey: proxy.key, body, ...(hasKey && { key: application.key }) });
  await eventually('the wait', async () => /^sluice_destination_waiting\S* 1$/m.test(await metrics.metrics()));
  await happen(gateway.current, happens, ids);
  let isOver = false;
  const answered = waiting.finally(() => {
    isOver = true;
  });
  asked[before]?.answer();
  await eventually('its turn', () => isOver || asked.length === before + 2);
  asked[before + 1]?.answer();
  await holder;
  return { ...(await answered), told: asked[before + 1]?.body };
}

test.each<[what: string, status: number, happens: Happening, of: Case]>([
  ['whose key is revoked, without an expression', 401, revoked, { text: 'no expression' }],
  ['whose key expires', 401, expired('applications'), { rows: () => ({ application: { expiresAt: soon() } }) }],
  ['whose Proxy is deleted, without a key', 404, proxyDeleted, { parts: { requireAuth: false }, hasKey: false }],
  ['whose token is deleted', 400, tokenDeleted, {}],
  ['whose token expires', 400, expired('tokens'), { rows: () => ({ token: { expires_at: soon().toISOString() } }) }],
  ['whose token is made anew', 503, tokenMadeAnew, {}],
  ['whose token is moved', 503, tokenMoved, {}],
])('a call %s is %i, and sends nothing', async (_, status, happens, of) => {
  const { text, ...answer } = await answerAfter(happens, of);
  expect(answer).toEqual({ status, retryAfter: status === 503 ? '1' : null, told: undefined });
  if (status === 400) expect(text).toContain('Unknown tokens');
});

test.each<[what: string, happens: Happening]>([
  ['nothing happens', nothing],
  ['another token is deleted', otherTokenDeleted],
])('the control: where %s, it is made', async (_, happens) => {
  expect(await answerAfter(happens)).toMatchObject({ status: 200, told: JSON.stringify([value]) });
});
