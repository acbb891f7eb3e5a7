import { randomUUID } from 'node:crypto';
import { openTestDatabase, useStack } from '@sluice/testing';

const database = useStack((stack) => openTestDatabase(stack));

async function createTenant(): Promise<string> {
  const id = randomUUID();
  await database.current.db.insertInto('tenants').values({ id, owner_id: randomUUID(), name: 'T' }).execute();
  return id;
}

function rowsOf(tenant_id: string) {
  const { db } = database.current;
  const formula = { tenant_id, id: randomUUID(), name: 'F', code: 'code' };
  const reactor = { tenant_id, id: randomUUID(), name: 'R', formula_id: formula.id };
  return {
    formula,
    reactor,
    async insert() {
      await db.insertInto('reactor_formulas').values(formula).execute();
      await db.insertInto('reactors').values(reactor).execute();
    },
  };
}

test('reactors and formulas go with the row of their Tenant, because the previous version does not purge them', async () => {
  const { db } = database.current;
  const [gone, stays] = [await createTenant(), await createTenant()];
  await rowsOf(gone).insert();
  await rowsOf(stays).insert();
  await db.deleteFrom('tenants').where('id', '=', gone).execute();
  for (const table of ['reactors', 'reactor_formulas'] as const) {
    const left = await db.selectFrom(table).select('tenant_id').where('tenant_id', 'in', [gone, stays]).execute();
    expect(left).toEqual([{ tenant_id: stays }]);
  }
});

test('a reactor has code of its own or a formula of its Tenant, and that formula stays', async () => {
  const { db } = database.current;
  const [own, other] = [rowsOf(await createTenant()), rowsOf(await createTenant())];
  await own.insert();
  const insert = (row: object) => db.insertInto('reactors').values({ ...own.reactor, id: randomUUID(), ...row });
  await expect(insert({ code: 'code' }).execute()).rejects.toThrow('reactors_check');
  await expect(insert({ formula_id: null }).execute()).rejects.toThrow('reactors_check');
  await other.insert();
  await expect(insert({ formula_id: other.formula.id }).execute()).rejects.toThrow('reactors_formula');
  await expect(db.deleteFrom('reactor_formulas').where('id', '=', own.formula.id).execute()).rejects.toThrow(
    'reactors_formula',
  );
  await insert({ formula_id: null, code: 'code' }).execute();
});
