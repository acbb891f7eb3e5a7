import { type Loaded, tagOf } from '@sluice/cache-coherence';
import { asTenant, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import type { ReactorDefinition } from './definition.ts';

export type FindingReactors = Pick<Context, 'db' | 'reactors'>;

/** The same error for an unknown id and for another Tenant's reactor. */
export function reactorNotFound(id: string): ServiceError {
  return new ServiceError('not_found', `Reactor ${id} does not exist`);
}

/** With `tx` it reads through that transaction, not the cache. */
export async function findReactor(
  { tenantId, id }: { tenantId: string; id: string },
  { db, reactors }: FindingReactors,
  tx?: Queryable,
): Promise<ReactorDefinition | undefined> {
  if (tx) return (await loadReactor(tx, tenantId, id))?.value;
  return reactors.get(`${tenantId}/${id}`, () => asTenant(tenantId, () => loadReactor(db, tenantId, id)));
}

async function loadReactor(
  db: Queryable,
  tenantId: string,
  id: string,
): Promise<Loaded<ReactorDefinition> | undefined> {
  const row = await db
    .selectFrom('reactors')
    .innerJoin('tenants', 'tenants.id', 'reactors.tenant_id')
    .leftJoin('reactor_formulas', (join) =>
      join
        .onRef('reactor_formulas.tenant_id', '=', 'reactors.tenant_id')
        .onRef('reactor_formulas.id', '=', 'reactors.formula_id'),
    )
    .select([
      'reactors.code',
      'reactors.formula_id',
      'reactors.application_id',
      'reactors.configuration_ciphertext',
      'reactors.retryable',
      'reactor_formulas.code as formula_code',
      'reactor_formulas.request_parameters',
    ])
    .where('reactors.tenant_id', '=', tenantId)
    .where('reactors.id', '=', id)
    .where('tenants.closed_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const { formula_id: formulaId } = row;
  const value: ReactorDefinition = {
    id,
    tenantId,
    code: row.code ?? row.formula_code ?? '',
    parameters: row.request_parameters ?? [],
    configurationCiphertext: row.configuration_ciphertext ?? undefined,
    applicationId: row.application_id ?? undefined,
    retryable: row.retryable,
  };
  const tags = [tagOf.reactor(id), tagOf.tenant(tenantId), ...(formulaId ? [tagOf.reactorFormula(formulaId)] : [])];
  return { value, tags, sizeBytes: sizeOf(value) };
}

/** In bytes; a character of text may take two. */
function sizeOf({ code, parameters, configurationCiphertext }: ReactorDefinition): number {
  return 500 + 2 * (code.length + JSON.stringify(parameters).length) + (configurationCiphertext?.length ?? 0);
}
