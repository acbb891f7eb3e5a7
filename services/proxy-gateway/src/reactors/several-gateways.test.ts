import { tagOf } from '@sluice/cache-coherence';
import { slow, useStack } from '@sluice/testing';
import { reactAt } from '../testing/react-at.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack(async (stack) => {
  const first = await startTestGateway(stack);
  const others = [await first.startAnother(), await first.startAnother()];
  return { ...first, urls: [first.url, ...others.map(({ url }) => url)] };
});

async function setUp() {
  const { tenant, urls } = gateway.current;
  const { id: caller, key } = await tenant.application();
  const formula = { code: 'module.exports = async () => ({ raw: 1 })' };
  const { id, formulaId = '' } = await tenant.reactor({ formula });
  const session = await tenant.session(caller, { reactors: [id] });
  const everywhere = async (by = key) => {
    const answers = await Promise.all(urls.map((url) => reactAt(url, { id, key: by })));
    return answers.map(({ status, body }) => body.raw ?? status);
  };
  return { id, formulaId, caller, session, everywhere };
}

describe('once a change is confirmed, no gateway runs on the old state', () => {
  slow('1.7 s')('of the formula', async () => {
    const { db, announce, tenant } = gateway.current;
    const { formulaId, everywhere } = await setUp();
    expect(await everywhere()).toEqual([1, 1, 1]);
    const code = 'module.exports = async () => ({ raw: 2 })';
    await db.updateTable('reactor_formulas').set({ code }).where('id', '=', formulaId).execute();
    expect(await everywhere()).toEqual([1, 1, 1]); // Control: it is cached
    await announce(tenant.id, [tagOf.reactorFormula(formulaId)]);
    expect(await everywhere()).toEqual([2, 2, 2]);
  });

  test('of the reactor', async () => {
    const { db, announce, tenant } = gateway.current;
    const { id, everywhere } = await setUp();
    expect(await everywhere()).toEqual([1, 1, 1]);
    await db.deleteFrom('reactors').where('id', '=', id).execute();
    await announce(tenant.id, [tagOf.reactor(id)]);
    expect(await everywhere()).toEqual([404, 404, 404]);
  });

  test('of the session and of its Application', async () => {
    const { db, announce, tenant } = gateway.current;
    const { session, caller, everywhere } = await setUp();
    expect(await everywhere(session.key)).toEqual([1, 1, 1]);
    await db.deleteFrom('sessions').where('id', '=', session.id).execute();
    await announce(tenant.id, [tagOf.session(session.id)]);
    expect([await everywhere(session.key), await everywhere()]).toEqual([
      [401, 401, 401],
      [1, 1, 1],
    ]);
    await db.deleteFrom('applications').where('id', '=', caller).execute();
    await announce(tenant.id, [tagOf.application(caller)]);
    expect(await everywhere()).toEqual([401, 401, 401]);
  });

  test('of the Tenant', async () => {
    const { db, announce, createTenant, urls } = gateway.current;
    const tenant = await createTenant();
    const { key } = await tenant.application();
    const { id } = await tenant.reactor({ code: 'module.exports = async () => ({ raw: 1 })' });
    const everywhere = async () =>
      (await Promise.all(urls.map((url) => reactAt(url, { id, key })))).map(({ status }) => status);
    expect(await everywhere()).toEqual([200, 200, 200]);
    await db.updateTable('tenants').set({ closed_at: new Date().toISOString() }).where('id', '=', tenant.id).execute();
    await announce(tenant.id, [tagOf.tenant(tenant.id)]);
    expect(await everywhere()).toEqual([401, 401, 401]);
  });
});
