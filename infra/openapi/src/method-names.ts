import type { OpenApiDocument, Part } from '@sluice/http-api';

/** Names for operations for which the rule below gives a bad name, or the same name twice. */
const ownNames: Readonly<Record<string, string>> = {
  getApplicationUses: 'applications.uses',
  getLedgerKey: 'logs.publicKey',
  getApplicationByKey: 'applications.getByKey',
  cancelReactorResult: 'reactors.results.cancel',
  search: 'search',
};

/** Operations called only by the sign-in pages, and operations that the library calls by their name for keys. */
const notInLibrary = new Set([
  ...['signIn', 'finishSignIn', 'lookAtSignInLink', 'lookAtInvitation', 'acceptInvitation'],
  ...['describeTokens', 'describeFoundTokens', 'bindToken'],
]);

/** The verb of an operation on a collection, or on one of its members. */
const verbs: Readonly<Record<string, readonly [collection: string, member: string]>> = {
  get: ['list', 'get'],
  post: ['create', 'create'],
  put: ['replace', 'update'],
  patch: ['patch', 'patch'],
  delete: ['clear', 'delete'],
};

/**
 * Writes into each operation the name of the library's method and of the command, as `x-sluice-method`:
 * `applications.keys.create`. The operations of the invocation are one method, `proxy`.
 * @throws {Error} if two operations would have the same name.
 */
export function addMethodNames(paths: OpenApiDocument['paths']): void {
  const taken = new Map<string, unknown>();
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const { operationId } = operation;
      if (notInLibrary.has(String(operationId))) continue;
      const name = path.split('/')[1] === 'proxy' ? 'proxy' : nameOf(operation, path, method, paths);
      if (taken.has(name) && name !== 'proxy') {
        throw new Error(`${operationId} and ${taken.get(name)} would both be ${name}: give one a name in ownNames`);
      }
      taken.set(name, operationId);
      operation['x-sluice-method'] = name;
    }
  }
}

function nameOf({ operationId }: Part, path: string, method: string, paths: OpenApiDocument['paths']): string {
  const own = ownNames[String(operationId)];
  if (own) return own;
  const version = path.startsWith('/v2/') ? 'ByCursor' : '';
  const segments = path
    .replace(/^\/v2/, '')
    .replace(/^\/api\//, '/console/')
    .split('/')
    .slice(1);
  const isTenant = segments[0] === 'tenants' && segments[1] === 'self';
  const [resources, verb] = isTenant
    ? tenantName(segments, method, paths)
    : collectionName(path, segments, method, paths);
  return [...resources.map(camelCase), `${verb}${version}`].join('.');
}

type Name = [resources: string[], verb: string];

function collectionName(path: string, segments: string[], method: string, paths: OpenApiDocument['paths']): Name {
  const words = segments.filter((segment) => !segment.startsWith('{'));
  const last = segments.at(-1) ?? '';
  const [ofCollection = method, ofMember = method] = verbs[method] ?? [];
  if (last.startsWith('{')) return [words, ofMember];
  if (last === 'self') return [words.slice(0, -1), `${ofMember}Self`];
  const hasMore = Object.keys(paths).some((other) => other.startsWith(`${path}/`));
  if (hasMore || (segments.length === 1 && method === 'get')) return [words, ofCollection];
  return [words.slice(0, -1), camelCase(last)];
}

/** A key has one Tenant, so `/tenants/self` is `tenant`; collections below it have their own names. */
function tenantName(segments: string[], method: string, paths: OpenApiDocument['paths']): Name {
  const below = segments.slice(2);
  if (below.length === 0) return [['tenant'], verbs[method]?.[1] ?? method];
  const collection = `/tenants/self/${below[0]}`;
  const hasMembers = Object.keys(paths).some((other) => other.startsWith(`${collection}/{`));
  return hasMembers
    ? collectionName(`/${segments.join('/')}`, below, method, paths)
    : [['tenant'], camelCase(below.at(-1) ?? '')];
}

function camelCase(text: string): string {
  return text.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
