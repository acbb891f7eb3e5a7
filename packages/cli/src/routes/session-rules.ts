import type { AuthorizeSession, SessionRule } from '@sluice/sdk';
import { UsageError } from '../failure.ts';
import type { RouteProxy } from './find-routes.ts';
import { tokensInHeaders } from './tokens-in-headers.ts';

/** What the session may use besides the tokens that `request_headers` name. */
export interface Grants {
  containers?: readonly string[];
  tokens?: readonly string[];
  /** Every token that the private Application may use. */
  allTokens?: boolean;
  /** Also tokens that the session creates in its own container, in which only it may create and use. */
  mayCreate?: boolean;
}

/** A session has at most this many rules. */
const mostRules = 100;

/**
 * Grants `token:use` on named tokens and containers. A session must have a grant, and a route needs `token:use`, so one
 * without any names its own container, in which there is nothing.
 * @throws {UsageError}
 */
export function grantsFor(
  proxies: readonly RouteProxy[],
  container: string,
  grants: Grants,
): Pick<AuthorizeSession, 'permissions' | 'rules'> {
  const { containers = [], tokens = [], allTokens = false, mayCreate = false } = grants;
  const creating = { container, permissions: ['token:create', 'token:use'] as const };
  const using = allTokens
    ? []
    : [...new Set([...tokensInHeaders(proxies), ...tokens])].map((value) => ({
        conditions: [{ attribute: 'id' as const, operator: 'equals' as const, value }],
      }));
  const inContainers = allTokens ? [] : [...new Set(containers)].map((one) => ({ container: one }));
  const own = mayCreate ? [creating] : [];
  const named = [...using, ...inContainers].map((where) => ({ ...where, permissions: ['token:use'] as const }));
  const rules = [...named, ...own];
  if (rules.length > mostRules) {
    throw new UsageError(
      `A session has at most ${mostRules} rules, but this command needs ${rules.length}. Each --token, each --container and each token in request_headers of the Proxies needs a rule. Use --container instead of --token.`,
    );
  }
  if (allTokens) return { permissions: ['token:use'], rules: inOrder(own) };
  return { rules: inOrder(rules.length > 0 ? rules : [{ container, permissions: ['token:use'] as const }]) };
}

type Unordered = Pick<SessionRule, 'container' | 'conditions'> & {
  permissions: readonly ('token:use' | 'token:create')[];
};

/** With `redact`, because a value that is put into a call is never shown in an answer of ours. */
function inOrder(rules: readonly Unordered[]): SessionRule[] {
  return rules.map(({ permissions, ...where }, index) => {
    return { ...where, priority: index + 1, transform: 'redact', permissions: [...permissions] };
  });
}
