import { isDeepStrictEqual } from 'node:util';
import { holds } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import { reactorConfiguration } from '@sluice/database';
import type { Asking } from '@sluice/http-api';
import { decryptSecret, encryptSecret, type Vault } from '@sluice/vault';
import type { Context } from '../context.ts';
import { withoutValues } from '../proxies/hidden-values.ts';
import { withoutNulls } from '../without-nulls.ts';
import type { ReactorDefinition } from './reactor.definition.ts';
import { findReactor, type ReactorRow } from './reactor.queries.ts';

const place = (tenantId: string, recordId: string) => ({ tenantId, recordId, ...reactorConfiguration });

/** All columns that the owner sets, null if the member is unset. */
export async function toColumns(
  vault: Vault,
  { tenantId, id }: { tenantId: string; id: string },
  { name, code, formula, application, configuration, retryable }: ReactorDefinition,
) {
  return {
    name,
    code: code ?? null,
    formula_id: formula?.id ?? null,
    application_id: application?.id ?? null,
    configuration_ciphertext: configuration
      ? await encryptSecret(vault, place(tenantId, id), JSON.stringify(configuration))
      : null,
    retryable,
  };
}

async function readConfiguration(vault: Vault, row: ReactorRow): Promise<Record<string, unknown> | undefined> {
  const { tenant_id, id, configuration_ciphertext: ciphertext } = row;
  if (!ciphertext) return undefined;
  return JSON.parse((await decryptSecret(vault, place(tenant_id, id), ciphertext)).toString());
}

export async function toDefinition(vault: Vault, row: ReactorRow): Promise<ReactorDefinition> {
  const { name, code, formula_id, application_id, retryable } = row;
  const configuration = await readConfiguration(vault, row);
  return {
    name,
    retryable,
    ...(code !== null && { code }),
    ...(formula_id !== null && { formula: { id: formula_id } }),
    ...(application_id !== null && { application: { id: application_id } }),
    ...(configuration && { configuration }),
  };
}

/** People who have signed in without `reactor:update` see the names in the configuration but no values. */
export async function toReactor(vault: Vault, row: ReactorRow, caller: Caller) {
  const { configuration_ciphertext: _, id, ...columns } = row;
  const configuration = await readConfiguration(vault, row);
  const isHidden = caller.signInId !== undefined && !holds(caller, 'reactor:update');
  const shown = configuration && (isHidden ? withoutValues(configuration) : configuration);
  return { ...withoutNulls(columns), id, ...(shown !== undefined && { configuration: shown }) };
}

/** A replayed response contains the configuration only if it is unchanged and the caller may see it. */
export async function withoutConfigurationThatIsGone(
  kept: unknown,
  { db, vault }: Context,
  { caller }: Asking,
): Promise<unknown> {
  const { configuration, ...reactor } = kept as { id: string; configuration?: unknown };
  const row = await findReactor(db, caller.tenantId, reactor.id);
  const current = row && (await toReactor(vault, row, caller)).configuration;
  return isDeepStrictEqual(configuration, current) ? kept : reactor;
}
