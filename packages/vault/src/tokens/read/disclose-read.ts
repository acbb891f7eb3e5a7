import type { Disclosure } from '@sluice/audit';
import type { Vault } from '../../vault.ts';
import type { Actor, Through } from '../token.ts';
import { type BoundToken, requirePurpose, UseRefused } from '../use/purpose.ts';
import { purposeOfCode } from '../use/purpose-of-code.ts';
import { limitedOf, spendUses } from '../use/spend-uses.ts';

export function onBehalfOf({ applicationId }: Pick<Actor, 'applicationId'>): { application_id?: string } {
  return applicationId === undefined ? {} : { application_id: applicationId };
}

/**
 * Call it before responding with values, masked or not, after all other checks: for code it counts their uses.
 * @throws {ServiceError} `unavailable` if it cannot be recorded. @throws {UseRefused} if one has no use left.
 */
export async function discloseRead(vault: Vault, actor: Actor, tokens: readonly BoundToken[]): Promise<void> {
  const [first] = tokens;
  if (first === undefined) return;
  const { through, tenantId } = actor;
  if (through) {
    const spent = spendUses(vault, tenantId, limitedOf(tokens), through.counted);
    if (spent) await recordingRefusals(vault, actor, through, () => spent);
  }
  const ids = tokens.map(({ id }) => id);
  await record(vault, actor, through ? useOf(actor, through, ids) : readOf(actor, first.id, ids));
}

/** @throws {UseRefused} if the `use` of one does not let code have its value, once that is recorded. */
export async function requireUseByCode(
  vault: Vault,
  actor: Actor,
  through: Through,
  tokens: readonly BoundToken[],
): Promise<void> {
  await recordingRefusals(vault, actor, through, async () =>
    requirePurpose(tokens, purposeOfCode(through), vault.clock()),
  );
}

async function recordingRefusals(
  vault: Vault,
  actor: Actor,
  through: Through,
  revealing: () => Promise<unknown>,
): Promise<void> {
  try {
    await revealing();
  } catch (error) {
    if (error instanceof UseRefused) {
      const { detail, ...use } = useOf(actor, through, []);
      await record(vault, actor, { ...use, detail: { ...detail, refused: error.refusals } });
    }
    throw error;
  }
}

async function record(vault: Vault, { tenantId, id, actorType = 'application', traceId }: Actor, what: What) {
  await vault.disclosures.record({ tenantId, actorId: id, actorType, traceId, ...what });
}

type What = Pick<Disclosure, 'operation' | 'entityType' | 'entityId' | 'detail'>;

function readOf(actor: Actor, entityId: string, token_ids: readonly string[]): What {
  return { operation: 'read', entityType: 'token', entityId, detail: { token_ids, ...onBehalfOf(actor) } };
}

const placeOf = { proxy: 'transform', reactor: 'code' } as const;

/** The same as for the request's own expressions, so that a search for a token's destinations finds both. */
function useOf({ id, applicationId = id }: Actor, through: Through, token_ids: readonly string[]): What {
  const { entityType, entityId, destinationHost, method, pathName } = through;
  const detail = {
    token_ids,
    ...(destinationHost !== undefined && { destination_host: destinationHost }),
    application_id: applicationId,
    ...(method !== undefined && { method }),
    places: [placeOf[entityType]],
    ...(pathName !== undefined && { path_name: pathName }),
  };
  return { operation: 'use', entityType, entityId, detail };
}
