import { tagOf } from '@sluice/cache-coherence';
import { eventually, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));
const queueLimit = 10;
const small = useStack((stack) => startTestGateway(stack, { DISCLOSURE_QUEUE_LIMIT: `${queueLimit}` }));

/** Invokes a Proxy, and says what its destination received. */
async function invoke({ url, destination }: TestGateway, keys: { proxy: string; key: string }, body: object) {
  const before = destination.seen.length;
  const headers = { 'SVC-API-KEY': keys.key, 'SVC-PROXY-KEY': keys.proxy, 'Content-Type': 'application/json' };
  const answer = await fetch(`${url}/proxy`, { method: 'POST', headers, body: JSON.stringify(body) });
  await answer.text();
  const sent = destination.seen.slice(before).map((one) => one.body);
  return { status: answer.status, retryAfter: answer.headers.get('Retry-After'), sent };
}

const refused = { status: 500, sent: [] };

describe('a stored value that was tampered with is a bare 500, nothing is forwarded, and an alarm is counted', () => {
  const countAlarms = async () =>
    Number(/^sluice_integrity_failures_total (\d+)$/m.exec(await gateway.current.metrics.metrics())?.[1]);

  test('a token that has the ciphertext of another', async () => {
    const { tenant, db, destination } = gateway.current;
    const { key } = await tenant.application();
    const proxy = await tenant.proxy({ destination: destination.url });
    const [one, other] = [await tenant.token({ data: 'one' }), await tenant.token({ data: 'other' })];
    const alarms = await countAlarms();
    await sql`update tokens set data_ciphertext = (select data_ciphertext from tokens where id = ${other})
      where id = ${one}`.execute(db);
    const keys = { proxy: proxy.key, key };
    expect(await invoke(gateway.current, keys, { value: `{{ ${one} }}` })).toMatchObject(refused);
    expect(await countAlarms()).toBeGreaterThan(alarms);
    expect(await invoke(gateway.current, keys, { value: `{{ ${other} }}` })).toMatchObject({
      status: 200,
      sent: ['{"value":"other"}'],
    });
  });

  test('Proxies that have the configurations of each other, until they have their own again', async () => {
    const { tenant, db, destination } = gateway.current;
    const { key } = await tenant.application();
    const requestTransform = 'module.exports = async ({ configuration }) => ({ body: configuration })';
    const open = (name: string) =>
      tenant.proxy({ destination: destination.url, requestTransform, configuration: { name } });
    const [one, other] = [await open('one'), await open('other')];
    const alarms = await countAlarms();
    const swap = () =>
      sql`update proxies set configuration_ciphertext = source.configuration_ciphertext from proxies source
        where (proxies.id, source.id) in ((${one.id}, ${other.id}), (${other.id}, ${one.id}))`.execute(db);
    await swap();
    for (const proxy of [one, other]) {
      expect(await invoke(gateway.current, { proxy: proxy.key, key }, {})).toMatchObject(refused);
    }
    expect(await countAlarms()).toBeGreaterThan(alarms);
    await swap();
    await gateway.current.announce(
      tenant.id,
      [one, other].map(({ id }) => tagOf.proxy(id)),
    );
    expect(await invoke(gateway.current, { proxy: one.key, key }, {})).toMatchObject({ sent: ['{"name":"one"}'] });
  });
});

test('while no row of the audit log can be stored, what would disclose is 503 once the queue is full, and the rest goes on', async () => {
  const { tenant, db, destination } = small.current;
  const { key } = await tenant.application();
  const keys = { proxy: (await tenant.proxy({ destination: destination.url })).key, key };
  const body = { value: `{{ ${await tenant.token({ data: 'a value' })} }}` };
  expect(await invoke(small.current, keys, body)).toMatchObject({ status: 200 });
  await db.transaction().execute(async (tx) => {
    await sql`lock table audit_log in access exclusive mode`.execute(tx);
    const answers = [];
    for (let n = 0; n <= queueLimit; n++) answers.push(await invoke(small.current, keys, body));
    expect(answers.at(-1)).toEqual({ status: 503, retryAfter: expect.stringMatching(/^\d+$/), sent: [] });
    expect(await invoke(small.current, keys, { value: 'none' })).toMatchObject({ status: 200 });
  });
  await eventually('disclosed again', async () => (await invoke(small.current, keys, body)).status === 200);
});
