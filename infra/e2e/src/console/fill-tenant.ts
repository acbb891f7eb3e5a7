import type { ConsoleWorld } from './open-console.ts';

interface Counts {
  applications?: number;
  proxies?: number;
  reactors?: number;
  formulas?: number;
  /** Members besides the owner. */
  people?: number;
  invitations?: number;
}

/** Requests at a time, so that a Tenant of a thousand things takes seconds. */
const lanes = 12;

/**
 * Fills a Tenant for pictures and for lists of many pages. Names have the number of the thing, so that tests can search them:
 * `Shop 001`, `Supplier 001`, `Check 001`, `Formula 001`, `person001@example.com`. Each seventh name is long, each ninth is in
 * another script.
 */
export async function fillTenant(world: Pick<ConsoleWorld, 'sluice' | 'query' | 'stack'>, counts: Counts) {
  const { sluice } = world;
  const { applications = 0, proxies = 0, reactors = 0, formulas = 0, people = 0, invitations = 0 } = counts;
  const types = ['private', 'public'] as const;
  await each(applications, (at) => {
    const type = types[at % 2] ?? 'private';
    return sluice.applications.create({ name: nameOf('Shop', at), type, permissions: ['token:create'] });
  });
  await each(proxies, (at) =>
    sluice.proxies.create({
      name: nameOf('Supplier', at),
      destination_url: `https://api-${at}.suppliers.example/v1/orders`,
      require_auth: at % 5 !== 0,
    }),
  );
  await each(reactors, (at) =>
    sluice.reactors.create({ name: nameOf('Check', at), code: 'module.exports = async () => ({ raw: {} });' }),
  );
  await each(formulas, (at) =>
    sluice.reactorFormulas.create({ name: nameOf('Formula', at), code: 'module.exports = async () => ({ raw: {} });' }),
  );
  await each(invitations, (at) =>
    sluice.invitations.create({ email: `invited${padded(at)}@example.com`, role: 'DEVELOPER' }),
  );
  if (people > 0) await insertPeople(world, people);
}

/** In the order of their numbers by SQL, because a person becomes a member in a browser. */
async function insertPeople({ query, stack }: Pick<ConsoleWorld, 'query' | 'stack'>, count: number) {
  await query(
    `with person as (
       insert into users (email, first_name, last_name)
       select 'person' || lpad(at::text, 3, '0') || '@example.com', 'Person', lpad(at::text, 3, '0')
       from generate_series(1, $2::int) as at
       returning id
     )
     insert into members (tenant_id, user_id, role)
     select $1, id, (array['ADMIN', 'DEVELOPER', 'AUDITOR'])[1 + (row_number() over ()) % 3] from person`,
    [stack.credentials.tenant_id, count],
  );
}

const padded = (at: number) => String(at).padStart(3, '0');

function nameOf(noun: string, at: number): string {
  const name = `${noun} ${padded(at)}`;
  if (at % 7 === 0)
    return `${name} of the branch whose full name somebody wanted to be readable in every list of the console`;
  return at % 9 === 0 ? `${name} 東京の店舗` : name;
}

async function each(count: number, create: (at: number) => Promise<unknown>): Promise<void> {
  const numbers = Array.from({ length: count }, (_, at) => at + 1).values();
  const lane = async () => {
    for (const at of numbers) await create(at);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
