import { ServiceError } from '@sluice/problems';
import { coversHost, type TokenUse, type UseMember } from './token-use.ts';

/** What tokens are to be revealed for. */
export interface Purpose {
  /** Undefined in a reactor. */
  proxyId: string | undefined;
  /** Undefined where code gets the value: it can send it anywhere. */
  call: PurposeCall | undefined;
}

export interface PurposeCall {
  /** As `URL.hostname` has it. */
  host: string;
  method: string;
  /** Where the request names the token. Undefined: `places` is not judged. */
  placesOf(id: string): readonly string[] | undefined;
  /** Whether code gets the value before it is sent. */
  isSeenByCode(id: string): boolean;
}

/** A token with its `use`. Null: it may be used for everything. */
export interface BoundToken {
  id: string;
  use: TokenUse | null;
}

export interface Refusal {
  token_id: string;
  member: UseMember;
}

/** A token whose `use` does not allow the purpose is not revealed. Whoever catches it records its refusals. */
export class UseRefused extends ServiceError {
  readonly refusals: readonly Refusal[];

  constructor(refusals: readonly Refusal[], detail = detailOf(refusals)) {
    super('forbidden', detail);
    this.refusals = refusals;
  }
}

function detailOf(refusals: readonly Refusal[]): string {
  const reasons = refusals.map(({ token_id, member }) =>
    member === 'max_uses'
      ? `Token ${token_id} has no use left (use.max_uses)`
      : `Token ${token_id} is bound by use.${member}, which does not allow this use`,
  );
  return reasons.join('; ');
}

/** Does not judge `max_uses`, which is counted once all else is checked. @throws {UseRefused} */
export function requirePurpose(tokens: readonly BoundToken[], purpose: Purpose, now: Date): void {
  let refusals: Refusal[] | undefined;
  for (const { id, use } of tokens) {
    const member = use && refusedMember(id, use, purpose, now);
    if (!member) continue;
    refusals ??= [];
    refusals.push({ token_id: id, member });
  }
  if (refusals) throw new UseRefused(refusals);
}

/** The first member that does not hold, in the order of the reference. */
export function refusedMember(id: string, use: TokenUse, { proxyId, call }: Purpose, now: Date): UseMember | undefined {
  const { proxies, destinations, methods, places } = use;
  if (proxies && (proxyId === undefined || !proxies.includes(proxyId))) return 'proxies';
  if (destinations && (!call || call.isSeenByCode(id) || !isCovered(destinations, call.host))) return 'destinations';
  if (methods && (!call || !methods.includes(call.method.toUpperCase()))) return 'methods';
  if (places && (!call || !isWithin(places, call.placesOf(id)))) return 'places';
  return isOver(use, now) ? 'until' : undefined;
}

/** A token that stands nowhere is refused, because that would be a fault of the caller. */
function isWithin(allowed: readonly string[], places: readonly string[] | undefined): boolean {
  return !places || (places.length > 0 && places.every((place) => allowed.includes(place)));
}

function isCovered(destinations: readonly string[], host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  return destinations.some((destination) => coversHost(destination, name));
}

export function isOver(use: Pick<TokenUse, 'until'> | null, now: Date): boolean {
  return use?.until !== undefined && !(Date.parse(use.until) > now.getTime());
}
