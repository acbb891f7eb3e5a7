import { isDeepStrictEqual } from 'node:util';
import { decide } from '@sluice/access';
import { recordChange } from '@sluice/audit';
import { type Confirmation, type RecordedChange, tagOf } from '@sluice/cache-coherence';
import { inRowTurns, type Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { filterBudget } from '../../expressions/filter-budget.ts';
import { isObject, type Json } from '../../json.ts';
import type { Vault } from '../../vault.ts';
import {
  equalityOf,
  type Fingerprinted,
  hasEqual,
  hasFingerprint,
  lockFingerprints,
  takesPart,
} from '../create/equal-tokens.queries.ts';
import {
  type DerivedTexts,
  type InputReading,
  type Judged,
  readTokenInput,
  type TokenInput,
} from '../create/read-token-input.ts';
import { prepareSeal } from '../create/seal-token.ts';
import { cvcLifetimeMs, isCvcKept } from '../expiry/cvc.ts';
import { noteDue } from '../expiry/due-tokens.queries.ts';
import { touch } from '../read/activity.ts';
import { discloseRead, onBehalfOf, requireUseByCode } from '../read/disclose-read.ts';
import { tokenNotFound } from '../read/find-token.ts';
import { presentUnread, presentWithoutData, showsData, visibleData } from '../read/present-token.ts';
import { requirePermission } from '../require-permission.ts';
import { findTokenSettings, type TokenSettings } from '../tenant-settings.queries.ts';
import { lockTokenRow } from '../token.queries.ts';
import type { Actor, Token, TokenRow } from '../token.ts';
import { isTokenId, rowOfToken } from '../token-id.ts';
import { UseRefused } from '../use/purpose.ts';
import { requireUseKnown } from '../use/require-use-known.ts';
import { withItsUses } from '../use/with-uses.ts';
import { isPartOfCard } from './blind-change.ts';
import { decryptToChange, inAttempts, readToChange } from './decrypt-to-change.ts';
import { requireNoEqualityTest, requirePatchRights, seesData } from './patch-rights.ts';
import { blindMetadataBytes, isEmptyMerge, seesMetadata } from './patch-sizes.ts';
import { applyTokenPatch, readTokenPatch, type TokenPatch } from './read-token-patch.ts';
import { type TokenChanges, updateTokenRow } from './update-token.queries.ts';

export interface UpdatedToken {
  token: Token;
  confirmation: Confirmation;
}

const mostAttempts = 10;

/**
 * Applies a JSON merge patch and resolves once no process serves the old state. Null resets a member to its default. No
 * response or error reveals more of the token than a read would (`patch-rights.ts`, `patch-sizes.ts`).
 * @throws {ServiceError} `validation_failed`, `not_found`, `forbidden`, `conflict`, `payload_too_large`, `unavailable`.
 */
export async function updateToken(vault: Vault, actor: Actor, id: string, patch: unknown): Promise<UpdatedToken> {
  requirePermission(actor, 'token:update');
  const checked = readTokenPatch(patch, vault.clock());
  if (!isTokenId(id)) throw tokenNotFound();
  const rows = [rowOfToken(id)];
  const written = await inRowTurns(vault.db, { tenantId: actor.tenantId, rows }, () =>
    attempt(vault, actor, id, checked),
  );
  const confirmation = await vault.changes.barrier(written.change);
  return { token: await present(vault, actor, written.row, written.input), confirmation };
}

/** Prepares again if another process changes the token between preparing and writing. */
async function attempt(vault: Vault, actor: Actor, id: string, patch: TokenPatch) {
  const { attempting, giveBack } = inAttempts(actor);
  for (let attempts = 0; attempts < mostAttempts; attempts++) {
    const update = await prepareUpdate(vault, attempting, id, patch);
    const written = await vault.db.transaction().execute((tx) => write(tx, vault, actor, update));
    if (written) return { ...written, input: update.input };
    giveBack();
  }
  const detail = 'The token is being changed by other requests; try again';
  throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}

/** Prepared before the transaction, because it is slow. */
interface Update {
  from: TokenRow;
  input: TokenInput;
  changes: TokenChanges;
  /** Set if no other token may equal the changed one. */
  unique: Fingerprinted | undefined;
  members: string[];
}

async function prepareUpdate(vault: Vault, actor: Actor, id: string, patch: TokenPatch): Promise<Update> {
  const { tenantId } = actor;
  const from = await readToChange(vault, actor, id);
  const now = vault.clock();
  if (!from || isPast(from.expires_at, patch, now)) throw tokenNotFound();
  requirePatchRights(actor, from, patch);
  const settings = await findTokenSettings(vault.db, tenantId);
  if (patch.deduplicate_token ?? settings.deduplicate_tokens) requireNoEqualityTest(actor, from, patch);
  actor.requireVersion?.(from);
  const blind_metadata_bytes = blindMetadataBytes(actor, from, patch);
  const data = await decryptToChange(vault, actor, from);
  const judged = judgedIn(actor, from, patch);
  const reading = { now, budget: filterBudget(), ...judged };
  const input = readTokenInput(applyTokenPatch(from, data, patch), '', reading);
  const texts = textsAfter({ data, patch, input, isKept: isPartOfCard(from, judged.parts) });
  const derived = { ...input, fingerprintText: texts.fingerprintText ?? '', searchTexts: texts.searchTexts ?? [] };
  const seal = await prepareSeal(vault, tenantId, [derived]);
  const { search_hashes, fingerprint, ...ciphertexts } = seal(derived, {
    tenantId,
    id,
    cvcDueAt: cvcDueAt(from, patch, now),
  });
  const newFingerprint = isFingerprinted(from, input, settings) ? fingerprint : null;
  const changes = {
    ...ciphertexts,
    ...(texts.searchTexts && { search_hashes }),
    fingerprint: texts.fingerprintText === undefined ? from.fingerprint : newFingerprint,
    mask: input.mask,
    containers: input.containers,
    metadata: input.metadata,
    search_indexes: input.searchIndexes,
    fingerprint_expression: input.fingerprintExpression ?? null,
    expires_at: input.expiresAt ?? null,
    use: patch.use === undefined ? from.use : patch.use,
    blind_metadata_bytes,
  };
  const unique = (input.deduplicate ?? settings.deduplicate_tokens) ? changedEquality(from, changes) : undefined;
  return { from, input, changes, unique, members: Object.keys(patch) };
}

/** What the actor changes and sees; of data that it does not see, what it sends. */
function judgedIn(actor: Actor, token: TokenRow, patch: TokenPatch): Pick<InputReading, 'unjudged' | 'parts'> {
  const { data, metadata, mask, search_indexes, fingerprint_expression } = patch;
  const isSeen = seesData(actor, token);
  const parts = !isSeen && isObject(data) ? data : undefined;
  const isFilledAnew = [data, mask, search_indexes, fingerprint_expression].some((member) => member !== undefined);
  const unjudged = new Set<Judged>();
  if (data === undefined || parts) unjudged.add('data');
  if (metadata === undefined || !seesMetadata(actor, token)) unjudged.add('metadata');
  if (!isFilledAnew || !isSeen) unjudged.add('templates');
  return { unjudged, parts };
}

/** Texts for fingerprint and search hashes after a patch. Undefined: the stored ones stay. */
type TextsAfter = { [Name in keyof DerivedTexts]: DerivedTexts[Name] | undefined };

interface Change {
  /** The data before the patch. */
  data: Json;
  patch: TokenPatch;
  input: TokenInput;
  /** Whether nothing is made of the data that the patch changes. */
  isKept: boolean;
}

function textsAfter({ data, patch, input, isKept }: Change): TextsAfter {
  const { fingerprint_expression, search_indexes, deduplicate_token } = patch;
  const isUnchanged = isObject(data) && isEmptyMerge(patch.data);
  const isDataChanged = patch.data !== undefined && !isUnchanged && !isKept;
  const isFingerprinted = isDataChanged || fingerprint_expression !== undefined || deduplicate_token === true;
  return {
    fingerprintText: isFingerprinted ? input.fingerprintText : undefined,
    searchTexts: isDataChanged || search_indexes !== undefined ? input.searchTexts : undefined,
  };
}

/** Our clock may be ahead of the database's, so an old `expires_at` is no error if the patch does not name it. */
function isPast(expiresAt: string | null, patch: TokenPatch, now: Date): boolean {
  return patch.expires_at === undefined && expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
}

/** The same rules as for a new token. */
function isFingerprinted(from: TokenRow, input: TokenInput, settings: TokenSettings): boolean {
  // A token with the default fingerprint keeps one, because its creator asked for it.
  const isKept = from.fingerprint !== null && from.fingerprint_expression === null;
  const isDeduplicated = input.deduplicate ?? settings.deduplicate_tokens;
  return settings.fingerprint_tokens || isDeduplicated || isKept || input.fingerprintExpression !== undefined;
}

/** Undefined if the token equals the same tokens as before, or none because it has `use`. */
function changedEquality(
  from: TokenRow,
  { fingerprint, fingerprint_expression, use }: TokenChanges,
): Fingerprinted | undefined {
  const after = { type: from.type, fingerprint, fingerprint_expression };
  if (!takesPart({ use }) || !hasFingerprint(after)) return undefined;
  return takesPart(from) && hasFingerprint(from) && equalityOf(from) === equalityOf(after) ? undefined : after;
}

/** A `cvc` in the patch starts a new hour; a stored one keeps the rest of its own. */
function cvcDueAt(from: TokenRow, { data }: TokenPatch, now: Date): Date {
  const isSent = isObject(data) && typeof data.cvc === 'string';
  const isKept = !isSent && from.cvc_due_at !== null && isCvcKept(from, now);
  return isKept && from.cvc_due_at !== null ? new Date(from.cvc_due_at) : new Date(now.getTime() + cvcLifetimeMs);
}

interface Written {
  row: TokenRow;
  change: RecordedChange;
}

/** Undefined if the token has changed since the update was prepared. */
async function write(tx: Queryable, vault: Vault, actor: Actor, update: Update): Promise<Written | undefined> {
  const { tenantId } = actor;
  const { from, changes, unique, members } = update;
  const { id } = from;
  if (unique !== undefined) {
    await lockFingerprints(tx, tenantId, [unique.fingerprint]);
    if (await hasEqual(tx, tenantId, { id, ...unique })) {
      throw new ServiceError('conflict', 'Tokens are deduplicated, and an equal token exists already');
    }
  }
  if (!isSame(await lockTokenRow(tx, tenantId, id), from)) return undefined;
  await requireUseKnown(tx, from.use, changes.use);
  const row = await updateTokenRow(tx, actor, id, changes);
  await noteDue(tx, tenantId, [row]);
  const { id: actorId, actorType = 'application', traceId } = actor;
  const act = { tenantId, actorId, actorType, traceId };
  await recordChange(tx, act, {
    operation: 'update',
    entityType: 'token',
    entityId: id,
    detail: { members, ...onBehalfOf(actor) },
  });
  await actor.look?.(tx);
  return { row, change: await vault.changes.record(tx, tenantId, [tagOf.token(tenantId, id)]) };
}

/** Recording a use is no change, nor is what decryption caches in the row. */
function isSame(now: TokenRow | undefined, { sealed, ...before }: TokenRow): boolean {
  return isDeepStrictEqual(now && { ...now, active_month: before.active_month }, before);
}

async function present(vault: Vault, actor: Actor, row: TokenRow, input: TokenInput): Promise<Token> {
  const transform = decide(actor, 'token:read', row);
  if (!transform) {
    const { modified_by, modified_at } = presentWithoutData(row);
    return { ...presentUnread(row), ...(modified_by && { modified_by }), ...(modified_at && { modified_at }) };
  }
  const data = visibleData(transform, input, filterBudget());
  if ((await touch(vault, actor.tenantId, [row])).has(row.id)) return presentWithoutData(row);
  const isHidden = showsData(transform, row.mask) && !(await isShown(vault, actor, row));
  const token = { ...presentWithoutData(row), ...(data !== undefined && !isHidden && { data }) };
  return withItsUses(vault, actor.tenantId, token);
}

/** Records it. The change is made, so a refused use leaves the data out and is no error. */
async function isShown(vault: Vault, actor: Actor, row: TokenRow): Promise<boolean> {
  try {
    if (actor.through) await requireUseByCode(vault, actor, actor.through, [row]);
    await discloseRead(vault, actor, [row]);
    return true;
  } catch (error) {
    if (error instanceof UseRefused) return false;
    throw error;
  }
}
