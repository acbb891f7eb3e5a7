import { createHttpClient, type HttpAnswer } from '../cluster/http-client.ts';
import type { Node } from '../cluster/node.ts';
import type { Site } from '../cluster/site.ts';
import type { ApplicationView } from './application-view.ts';
import { invocationHeader, startCountingDestination } from './counting-destination.ts';
import { emptyHistory, type History, type Invocation, type KeyNumber, type Regeneration } from './history.ts';
import { attempt, sendChange } from './key-changes.ts';
import { createSingleKeys, type SingleKeys } from './single-keys.ts';

/** All that clients do, each act noted in one history. */
export interface Client {
  applications: readonly ApplicationView[];
  /** Of which no key is regenerated: single keys come and go. */
  severalKeys: readonly ApplicationView[];
  singleKeys: SingleKeys;
  /** What invocations carry by reference; undefined where there was no token vault to keep it. */
  secret: Secret | undefined;
  /** Of the Proxy without transforms. */
  proxyKey: string;
  /** How often each invocation reached the destination, by its number. */
  arrivals: ReadonlyMap<number, number>;
  /** Not twice at a time for one Application. */
  regenerate(application: ApplicationView, management: Node): Promise<Regeneration>;
  /** Presents a key of the Application to a gateway, or to the token vault. */
  invoke(application: ApplicationView, key: KeyNumber, target: Node): Promise<Invocation>;
  /** What has been noted so far, with what the destination saw of it. */
  history(): History;
}

interface Secret {
  tokenId: string;
  value: string;
}

/** The trace id under which an invocation is sent. */
export const traceIdOf = (number: number) => `invocation-${number}`;

/** What a status of 200 is noted as where the answer was not the one that was due. */
export const wrongAnswer = 'wrong answer';

export interface ClientOptions {
  site: Site;
  management: Node;
  /** With it, invocations carry a token, and their answers must hold its value. */
  vault?: Node | undefined;
  applications: number;
  /** Applications beside those, to which single keys are added; none by default. */
  severalKeys?: number;
  /** How long an invocation waits for its answer. */
  patienceMs: () => number;
}

/** Creates the Applications, and a Proxy to a destination of this process. */
export async function openClient(options: ClientOptions, stack: AsyncDisposableStack): Promise<Client> {
  const { site, management, vault, patienceMs } = options;
  const http = stack.adopt(createHttpClient(), (opened) => opened.close());
  const destination = await startCountingDestination(({ headers }) => Number(headers[invocationHeader]), stack);
  const headers = { 'svc-api-key': site.credentials.management_key, 'content-type': 'application/json' };
  const create = async (path: string, body: object, { url } = management, key = headers['svc-api-key']) => {
    const request = { method: 'POST', url: `${url}${path}`, headers: { ...headers, 'svc-api-key': key } };
    const answer = await http.send({ ...request, body: JSON.stringify(body), timeoutMs: 20_000 });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body) as { id: string; key: string };
  };
  const proxies = [
    await create('/proxies', { name: 'P', destination_url: destination.url }),
    await create('/proxies', { name: 'T', destination_url: destination.url, ...transforms }),
  ];
  const applications: ApplicationView[] = [];
  const { severalKeys = 0 } = options;
  for (let index = 0; index < options.applications + severalKeys; index++) {
    const { id, key } = await create('/applications', { name: `A${index}`, type: 'private', ...grants });
    applications.push({ index, id, keys: new Map([[0, key]]), revoked: [], newest: 0, regenerations: 0 });
  }
  const keeper = await create('/applications', { name: 'Keeper', type: 'private', permissions: ['token:create'] });
  const secret = vault && {
    value: 'an account number',
    tokenId: (await create('/tokens', { type: 'token', data: 'an account number' }, vault, keeper.key)).id,
  };
  const { regenerations, invocations } = emptyHistory();
  const singleKeys = createSingleKeys({ http, headers, grants });

  return {
    applications: applications.slice(0, options.applications),
    severalKeys: applications.slice(options.applications),
    singleKeys,
    secret,
    proxyKey: proxies[0]?.key ?? '',
    arrivals: destination.seen,
    async regenerate(application, { url }) {
      application.regenerations += 1;
      const number = application.regenerations;
      const request = { method: 'POST', url: `${url}/applications/${application.id}/regenerate`, headers, due: 200 };
      const { noted, body } = await sendChange(http, request, { application: application.index, number });
      if (body) {
        application.keys.set(number, JSON.parse(body).key);
        application.revoked.push(application.newest);
        application.newest = number;
      }
      regenerations.push(noted);
      return noted;
    },
    async invoke(application, key, target) {
      const number = invocations.length;
      const noted: Invocation = {
        application: application.index,
        key,
        target: target.name,
        startedAt: 0,
        endedAt: Number.POSITIVE_INFINITY,
        outcome: 'undecided',
        detail: 'under way',
      };
      invocations.push(noted);
      const apiKey = application.keys.get(key) ?? '';
      // Every fifth with transforms, for the same answer
      const proxyKey = proxies[number % 5 === 0 ? 1 : 0]?.key ?? '';
      const { due, ...request } = requestTo(target, { apiKey, proxyKey, number, secret });
      noted.startedAt = performance.now();
      const answer = await attempt(() => http.send({ ...request, timeoutMs: patienceMs() }));
      noted.endedAt = performance.now();
      noted.outcome = outcomeOf(answer, target);
      noted.detail = typeof answer === 'string' ? answer : String(answer.status);
      if (typeof answer !== 'string') noted.retryAfter = answer.headers['retry-after'];
      if (typeof answer !== 'string' && answer.status === 200 && answer.body !== due) noted.detail = wrongAnswer;
      return noted;
    },
    history() {
      const judged = invocations.map((invocation, number) =>
        destination.seen.has(number) ? { ...invocation, outcome: 'accepted' as const } : invocation,
      );
      return {
        ...emptyHistory(),
        regenerations: [...regenerations],
        singleKeys: singleKeys.noted.map((key) => ({ ...key })),
        singleKeyChanges: [...singleKeys.changes],
        invocations: judged,
      };
    },
  };
}

interface Presented {
  apiKey: string;
  proxyKey: string;
  number: number;
  secret: Secret | undefined;
}

/** The request, and the body that its answer must have. */
function requestTo({ service, url }: Node, { apiKey, proxyKey, number, secret }: Presented) {
  const body = (account: string) => JSON.stringify({ number, account });
  const headers = { 'svc-api-key': apiKey, 'content-type': 'application/json', 'svc-trace-id': traceIdOf(number) };
  const sent = { method: 'POST', body: body(secret ? `{{ ${secret.tokenId} }}` : ''), due: body(secret?.value ?? '') };
  return service === 'token-vault'
    ? { ...sent, url: `${url}/detokenize`, headers }
    : {
        ...sent,
        url: `${url}/proxy`,
        headers: { ...headers, 'svc-proxy-key': proxyKey, [invocationHeader]: String(number) },
      };
}

/** Undone by the second, so that the answer is the same as without them. */
const transforms = {
  request_transform: { code: 'module.exports = async ({ args }) => ({ ...args, body: { wrapped: args.body } });' },
  response_transform: { code: 'module.exports = async ({ args }) => ({ ...args, body: args.body.wrapped });' },
};

const permissions = ['token:use', 'token:read'];
const rule = { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions };
const grants = { rules: [rule] };

/** What no service answers before it has taken the key for valid. */
const afterAuthentication = {
  'token-vault': new Set([200, 400, 403, 404]),
  'proxy-gateway': new Set([200, 403, 413, 502, 504]),
};

function outcomeOf(answer: HttpAnswer | string, { service }: Node): Invocation['outcome'] {
  if (typeof answer === 'string') return 'undecided';
  if (answer.status === 401) return 'refused';
  if (answer.headers['svc-proxy-destination-status']) return 'accepted';
  const telling = afterAuthentication[service === 'token-vault' ? 'token-vault' : 'proxy-gateway'];
  return telling.has(answer.status) ? 'accepted' : 'undecided';
}
