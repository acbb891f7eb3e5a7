import { canonicalContainer, decide, isGrantedOnEach, seesMoreIn } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import type { Json } from '../../json.ts';
import { type TokenTypeName, tokenTypeOf } from '../../types/token-types.ts';
import { notGranted } from '../require-permission.ts';
import type { Actor, TokenRow } from '../token.ts';
import type { UseMember } from '../use/token-use.ts';
import { widerMember } from '../use/wider-member.ts';
import { isPartOfCard, requireBlindChange } from './blind-change.ts';
import type { TokenPatch } from './read-token-patch.ts';

/** Their expressions show parts of the data to their author, or can test guesses. */
const showing = ['mask', 'search_indexes', 'fingerprint_expression'] as const;

export function seesData(actor: Actor, token: TokenRow): boolean {
  return decide(actor, 'token:read', token) === 'reveal';
}

/** No patch may widen what its actor sees, because a right to a masked read would become a right to plaintext. */
export function requirePatchRights(actor: Actor, token: TokenRow, patch: TokenPatch): void {
  const { id } = token;
  if (!decide(actor, 'token:update', token)) throw notGranted('token:update', [id]);
  const after = { id, containers: containersAfter(token, patch) };
  requireMove(actor, token, after.containers);
  const wider = patch.use === undefined ? undefined : widerMember(token.use, patch.use);
  if (wider) requireWidening(actor, token, wider);
  if (seesMoreIn(actor, after, token)) {
    throw new ServiceError(
      'forbidden',
      'containers: this key would see more of the token in the new containers than it does now',
    );
  }
  if (seesData(actor, token)) return;
  if (patch.data !== undefined) requireBlindChange(token, patch.data as Json);
  const member = showing.find((name) => patch[name] !== undefined);
  if (member === undefined) return;
  throw new ServiceError('forbidden', `${member}: only a key with a rule that reveals the token may change it`);
}

/** Neither a leaked public key nor the code of a Proxy may free a token from what was set against it. */
function requireWidening(actor: Actor, token: TokenRow, member: UseMember): void {
  if (actor.type === 'private' && !actor.through && seesData(actor, token)) return;
  // Only who sees `use` learns which member is narrower; people see it in the console
  const named = actor.type === 'user' || decide(actor, 'token:read', token) ? `use.${member}` : 'use';
  throw new ServiceError(
    'forbidden',
    `${named}: this change would allow more use of the token than now. Only the key of a private Application can make such a change, and only if a rule of the Application reveals the token`,
  );
}

/**
 * A conflict reveals that two tokens are equal, so a caller who cannot see the data may send no patch that could cause
 * one.
 */
export function requireNoEqualityTest(actor: Actor, token: TokenRow, patch: TokenPatch): void {
  const isReplaced = patch.data !== undefined && !isPartOfCard(token, patch.data);
  const member = patch.deduplicate_token === true ? 'deduplicate_token' : isReplaced ? 'data' : undefined;
  if (member === undefined || seesData(actor, token)) return;
  throw new ServiceError(
    'forbidden',
    `${member}: tokens are deduplicated, so the change could reveal that an equal token exists. ` +
      'Use a key with a rule that reveals the token, or set deduplicate_token to false in the patch',
  );
}

function containersAfter({ type, containers }: TokenRow, patch: TokenPatch): readonly string[] {
  if (patch.containers === undefined) return containers;
  return patch.containers ?? [tokenTypeOf(type as TokenTypeName).defaultContainer];
}

function requireMove(actor: Actor, { id, containers: from }: TokenRow, to: readonly string[]): void {
  const [before, after] = [new Set(from.map(canonicalContainer)), new Set(to.map(canonicalContainer))];
  const moved = [...before, ...after].filter((container) => !(before.has(container) && after.has(container)));
  if (!isGrantedOnEach(actor, 'token:update', { id, containers: moved })) throw notGranted('token:update', moved);
}
