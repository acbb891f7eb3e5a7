import { type HttpAnswer, type HttpRequest, openHttpClient, startCountingDestination } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import type { Site } from '../cluster/site.ts';
import { emptyHistory, type History, type Invocation, type KeyNumber, type Regeneration } from './history.ts';
import { type ApplicationView, sendChange, singleKeysOf } from './single-keys.ts';

/** All that clients do, each act noted in one history. */
export type Client = Awaited<ReturnType<typeof openClient>>;

const invocationHeader = 'x-invocation';

export const traceIdOf = (number: number) => `invocation-${number}`;

/** Numbers that no invocation of the load has. */
let lastNumber = 0;

/** Recorded instead of 200 if the body is not the expected one. */
export const wrongAnswer = 'wrong answer';

/** Recorded until there is a response, or none comes. */
export const underWay = 'under way';

export interface ClientOptions {
  site: Site;
  management: Node;
  /** With it, invocations carry a token, and their answers must hold its value. */
  vault?: Node | undefined;
  /** How long it waits for the response to an invocation. */
  patienceMs: number;
}

/** Creates Proxies to a destination of this process. */
export async function openClient(options: ClientOptions, stack: AsyncDisposableStack) {
  const { site, management, vault } = options;
  const http = openHttpClient(stack);
  const destination = await startCountingDestination(({ headers }) => Number(headers[invocationHeader]), stack);
  const managementKey = site.credentials.management_key;
  const create = (path: string, body: object, { url } = management, key = managementKey) =>
    http.obtain({ method: 'POST', url: `${url}${path}`, key, body });
  const proxies = [
    await create('/proxies', { name: 'P', destination_url: destination.url }),
    await create('/proxies', { name: 'T', destination_url: destination.url, ...transforms }),
  ];
  let applications = 0;
  const keeper = await create('/applications', { name: 'Keeper', type: 'private', permissions: ['token:create'] });
  const secret = vault && {
    value: 'an account number',
    tokenId: (await create('/tokens', { type: 'token', data: 'an account number' }, vault, keeper.key)).id,
  };
  const { regenerations, invocations } = emptyHistory();
  const singleKeys = singleKeysOf(http, managementKey, grants);

  return {
    async createApplications(count: number): Promise<ApplicationView[]> {
      const created: ApplicationView[] = [];
      while (created.length < count) {
        const index = applications++;
        const { id, key } = await create('/applications', { name: `A${index}`, type: 'private', ...grants });
        created.push({ index, id, keys: new Map([[0, key]]), revoked: [], newest: 0, regenerations: 0 });
      }
      return created;
    },
    /** Of Applications whose own keys are not regenerated. */
    singleKeys,
    /** Of the Proxy without transforms. */
    proxyKey: proxies[0]?.key ?? '',
    /** How often each invocation reached the destination, by its number. */
    arrivals: destination.seen,
    /** Not twice at a time for one Application. */
    async regenerate(application: ApplicationView, { url }: Node): Promise<Regeneration> {
      application.regenerations += 1;
      const number = application.regenerations;
      const path = `/applications/${application.id}/regenerate`;
      const request = { method: 'POST', url: `${url}${path}`, key: managementKey, due: 200 };
      const { noted, body } = await sendChange(http, request, { application: application.index, number });
      if (body) {
        application.keys.set(number, JSON.parse(body).key);
        application.revoked.push(application.newest);
        application.newest = number;
      }
      regenerations.push(noted);
      return noted;
    },
    async invoke(
      application: ApplicationView,
      key: KeyNumber,
      target: Node,
      timeoutMs = options.patienceMs,
    ): Promise<Invocation> {
      const number = invocations.length;
      const noted: Invocation = {
        application: application.index,
        key,
        target: target.name,
        startedAt: performance.now(),
        endedAt: Number.POSITIVE_INFINITY,
        outcome: 'undecided',
        detail: underWay,
      };
      invocations.push(noted);
      const due = JSON.stringify({ number, account: secret?.value ?? '' });
      const request = presenting(target, {
        key: application.keys.get(key) ?? '',
        // Every fifth has transforms, which undo each other, so that the same answer is due.
        proxyKey: proxies[number % 5 === 0 ? 1 : 0]?.key ?? '',
        number,
        traceId: traceIdOf(number),
        body: { number, account: secret ? `{{ ${secret.tokenId} }}` : '' },
        timeoutMs,
      });
      const { startedAt, endedAt, status, detail, headers, body } = await http.send(request);
      return Object.assign(noted, {
        startedAt,
        endedAt,
        outcome: outcomeOf(status, headers, target),
        detail: status === 200 && body !== due ? wrongAnswer : detail,
        retryAfter: headers['retry-after'],
      });
    },
    /** Everything recorded so far; invocations also have the destination's record of them. */
    history: (): History => ({
      ...emptyHistory(),
      regenerations: [...regenerations],
      singleKeys: singleKeys.noted.map((key) => ({ ...key })),
      singleKeyChanges: [...singleKeys.changes],
      invocations: invocations.map((invocation, number) =>
        destination.seen.has(number) ? { ...invocation, outcome: 'accepted' as const } : invocation,
      ),
    }),
  };
}

export interface Presented extends Pick<HttpRequest, 'body' | 'headers' | 'timeoutMs'> {
  key: string;
  proxyKey?: string;
  traceId?: string;
  /** Of the load; another one by default. */
  number?: number;
}

/** A request that presents a key to a gateway, with a Proxy, or to a token vault. */
export function presenting(
  { service, url }: Pick<Node, 'service' | 'url'>,
  { key, proxyKey = '', traceId, number = --lastNumber, body = {}, headers, timeoutMs }: Presented,
): HttpRequest {
  const isVault = service === 'token-vault';
  const all = {
    ...(traceId !== undefined && { 'svc-trace-id': traceId }),
    ...(!isVault && { 'svc-proxy-key': proxyKey, [invocationHeader]: String(number) }),
    ...headers,
  };
  return { method: 'POST', url: url + (isVault ? '/detokenize' : '/proxy'), key, headers: all, body, timeoutMs };
}

/** Undone by the second, so that the answer is the same as without them. */
const transforms = {
  request_transform: { code: 'module.exports = async ({ args }) => ({ ...args, body: { wrapped: args.body } });' },
  response_transform: { code: 'module.exports = async ({ args }) => ({ ...args, body: args.body.wrapped });' },
};

/** A rule that shows plaintext everywhere to whoever has these permissions of tokens. */
export const revealing = (...permissions: string[]) => ({
  rules: [
    {
      description: 'all',
      priority: 1,
      container: '/',
      transform: 'reveal',
      permissions: permissions.map((one) => `token:${one}`),
    },
  ],
});

const grants = revealing('use', 'read');

/** Statuses that a service sends only after accepting the key. */
const afterAuthentication = {
  'token-vault': new Set([200, 400, 403, 404]),
  'proxy-gateway': new Set([200, 403, 413, 502, 504]),
};

function outcomeOf(status: number, headers: HttpAnswer['headers'], { service }: Node): Invocation['outcome'] {
  if (status === 401) return 'refused';
  if (headers['svc-proxy-destination-status']) return 'accepted';
  const telling = afterAuthentication[service === 'token-vault' ? 'token-vault' : 'proxy-gateway'];
  return telling.has(status) ? 'accepted' : 'undecided';
}
