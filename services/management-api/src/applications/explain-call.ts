import { type AccessRule, type CallDecision, explainCall, holds } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import { type FieldErrors, ServiceError, validationFailed } from '@sluice/problems';
import { type FoundBoundToken, findBoundToken, isTokenId } from '@sluice/vault';
import type { Context } from '../context.ts';
import { findCallRules } from '../proxies/proxy.queries.ts';
import { refusedUse } from './explain-use.ts';

interface Asked {
  token_id?: string;
  operation?: string;
  path_name?: string;
  proxy_id?: string;
  method?: string;
  path?: string;
  place?: string;
}

interface CallQuestion {
  kind: 'call';
  proxy: { id: string } | { path_name: string };
  method: string;
  path: string;
  tokenId: string | undefined;
  place: string | undefined;
}

type Question = { kind: 'token'; tokenId: string; operation: string } | CallQuestion;

const required = ['is required'];
const ofCalls = ['path_name', 'proxy_id', 'method', 'path', 'place'] as const;

/** @throws {ServiceError} `validation_failed` for a mixture of both questions, or a part of one. */
export function readQuestion(body: Asked): Question {
  const { token_id: tokenId, operation, path_name, proxy_id, method, path, place } = body;
  const isOfCall = path_name !== undefined || proxy_id !== undefined;
  const faults: FieldErrors = {};
  if (isOfCall && operation !== undefined) faults.operation = ['cannot be combined with path_name or proxy_id'];
  if (path_name !== undefined && proxy_id !== undefined) faults.proxy_id = ['cannot be combined with path_name'];
  if (!isOfCall) {
    for (const member of ofCalls) if (body[member] !== undefined) faults[member] = ['needs path_name or proxy_id'];
    if (operation === undefined) faults.operation = required;
    if (tokenId === undefined) faults.token_id = required;
  } else {
    if (method === undefined) faults.method = required;
    if (path === undefined) faults.path = required;
    else if (!/^([/?]|$)/.test(path)) faults.path = ['must begin with / or be empty'];
    if (place !== undefined && tokenId === undefined) faults.place = ['needs token_id'];
  }
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
  if (!isOfCall) return { kind: 'token', tokenId: tokenId ?? '', operation: operation ?? '' };
  const proxy = proxy_id === undefined ? { path_name: path_name ?? '' } : { id: proxy_id };
  const [withoutQuery = ''] = (path ?? '').split('?');
  return { kind: 'call', proxy, method: method ?? '', path: withoutQuery, tokenId, place };
}

/** @throws {ServiceError} `forbidden` */
export function requireToReadProxies(caller: Caller): void {
  if (!holds(caller, 'proxy:read'))
    throw new ServiceError('forbidden', 'This request also needs the permission proxy:read');
}

/** @throws {ServiceError} `not_found` */
export async function findAskedToken(db: Context['db'], tenantId: string, tokenId: string): Promise<FoundBoundToken> {
  const token = isTokenId(tokenId) ? await findBoundToken(db, tenantId, tokenId) : undefined;
  if (!token) throw new ServiceError('not_found', 'There is no token with this token_id');
  return token;
}

interface Application {
  tenant_id: string;
  permissions: readonly string[];
  rules: readonly AccessRule[];
  proxies: readonly string[] | null;
}

/** @throws {ServiceError} `not_found` for an unknown Proxy or token. */
export async function answerCall(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  application: Application,
  asked: CallQuestion,
) {
  const { tenant_id: tenantId } = application;
  const found = await findCallRules(db, tenantId, asked.proxy);
  if (!found) throw new ServiceError('not_found', 'There is no Proxy with this path_name or proxy_id');
  const token = asked.tokenId === undefined ? undefined : await findAskedToken(db, tenantId, asked.tokenId);
  const { id, allowed_methods, allowed_paths } = found;
  const proxy = { id, allowedMethods: allowed_methods ?? undefined, allowedPaths: allowed_paths ?? undefined };
  const { method, path, place } = asked;
  const { allowed, decidedBy } = explainCall({ caller: application, proxy, method, path, token });
  const refused = allowed && token ? refusedUse(token, { proxy: found, method, place }, vault.clock()) : undefined;
  if (refused) return { allowed: false, decided_by: { token: `use.${refused.member}` }, reason: refused.reason };
  const reason = reasonOf({ allowed, decidedBy }, token?.containers);
  return { allowed, ...(decidedBy && { decided_by: decidedBy }), reason };
}

function reasonOf({ allowed, decidedBy }: CallDecision, containers: readonly string[] | undefined): string {
  if (decidedBy === undefined) {
    const where = containers ? ` on a token in ${containers.join(', ')}` : '';
    return `Neither a rule nor a permission of the Application grants token:use${where}.`;
  }
  if ('application' in decidedBy)
    return 'The Application may call certain Proxies only, and this is none of them (field proxies of the Application).';
  if ('proxy' in decidedBy) {
    if (decidedBy.proxy === 'allowed_methods')
      return 'The Proxy does not allow this method (field allowed_methods of the Proxy).';
    return 'The Proxy does not allow this path (field allowed_paths of the Proxy). A path is also refused if some servers would read it as a path that is not allowed.';
  }
  const grant = 'rule' in decidedBy ? `rules[${decidedBy.rule}]` : `The permission ${decidedBy.permission}`;
  return `${grant} grants ${allowed && containers ? 'token:use on this token' : 'token:use'}, and neither the Application nor the Proxy refuses the call.`;
}
