import { type FoundBoundToken, refusedMember, type UseMember } from '@sluice/vault';

/** A call that would reveal the token, of a caller who may use it. */
interface BoundCall {
  proxy: { id: string; destination_url: string; has_request_transform: boolean };
  method: string;
  /** Where the call names the token. Undefined: `use.places` is not judged. */
  place: string | undefined;
}

interface Refused {
  member: UseMember;
  reason: string;
}

/** The member of the token's `use` that refuses the call, as the gateway judges it. Counts no use. */
export function refusedUse(token: FoundBoundToken, call: BoundCall, now: Date): Refused | undefined {
  const { id, use, uses } = token;
  if (!use) return undefined;
  const { proxy, method, place } = call;
  const host = new URL(proxy.destination_url).hostname;
  const member = refusedMember(
    id,
    use,
    {
      proxyId: proxy.id,
      call: {
        host,
        method,
        placesOf: () => (place === undefined ? undefined : [place.toLowerCase()]),
        isSeenByCode: () => proxy.has_request_transform,
      },
    },
    now,
  );
  const isSpent = use.max_uses !== undefined && uses >= use.max_uses;
  const refused = member ?? (isSpent ? 'max_uses' : undefined);
  return refused && { member: refused, reason: `${reasonOf(refused, call, host)} (use.${refused} of the token).` };
}

function reasonOf(member: UseMember, { proxy, method, place }: BoundCall, host: string): string {
  switch (member) {
    case 'proxies':
      return 'The token may be used by certain Proxies only, and this is none of them';
    case 'destinations':
      return proxy.has_request_transform
        ? 'The token may be sent to certain destinations only, and the code of the request transform could send it to others'
        : `The token may be sent to certain destinations only, and ${host} is none of them`;
    case 'methods':
      return `The token may be sent with certain methods only, and ${method} is none of them`;
    case 'places':
      return `The token may be used in certain places only, and ${place} is none of them`;
    case 'max_uses':
      return 'The token has no use left';
    case 'until':
      return 'The time in which the token may be used is over';
  }
}
