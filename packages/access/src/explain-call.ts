import { type AllowedCalls, refusedBy } from './allowed-calls.ts';
import { type DecidedOn, type Explanation, explain, type Grants } from './explain.ts';

/** A caller; `proxies` are the only ones that it may invoke, and without them all. */
export interface Invoking {
  proxies?: readonly string[] | null | undefined;
}

export function mayInvoke({ proxies }: Invoking, proxyId: string): boolean {
  return !proxies || proxies.includes(proxyId);
}

interface Call {
  caller: Grants & Invoking;
  proxy: AllowedCalls & { id: string };
  method: string;
  /** What follows the address of the Proxy, without the query. */
  path: string;
  /** A token that the call would reveal. */
  token?: DecidedOn | undefined;
}

/** What allows a call, or refuses it. `decidedBy` is absent where no grant gives `token:use`. */
export interface CallDecision {
  allowed: boolean;
  decidedBy?:
    | { application: 'proxies' }
    | { proxy: 'allowed_methods' | 'allowed_paths' }
    | Explanation['decidedBy']
    | undefined;
}

const use = 'token:use';

/** Judges a call by the functions that the gateway uses, in its order. */
export function explainCall({ caller, proxy, method, path, token }: Call): CallDecision {
  const anywhere = grantOfUse(caller);
  if (!anywhere) return { allowed: false };
  if (!mayInvoke(caller, proxy.id)) return { allowed: false, decidedBy: { application: 'proxies' } };
  const member = refusedBy(proxy, { method, path });
  if (member) return { allowed: false, decidedBy: { proxy: member } };
  if (!token) return { allowed: true, decidedBy: anywhere };
  const explained = explain(caller, use, token);
  return explained ? { allowed: true, decidedBy: explained.decidedBy } : { allowed: false };
}

/** The first that gives it on any container, because a caller without it invokes nothing. */
function grantOfUse({ permissions, rules }: Grants): Explanation['decidedBy'] | undefined {
  if (permissions.includes(use)) return { permission: use };
  const rule = rules.findIndex((one) => one.permissions.includes(use));
  return rule < 0 ? undefined : { rule };
}
