import type { HttpClient, HttpRequest } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { emptyHistory, type History, type Invocation, type SingleKey } from './history.ts';
import { sendChange } from './single-keys.ts';

/** How a sign-in ends. Each has a number of its own in the history, as an Application has. */
export const signInEnds = ['removed', 'demoted', 'signed out', 'key deleted'] as const;
export type SignInEnd = (typeof signInEnds)[number];

/** A sign-in besides the permanent one. `end` says how it is ended. */
interface SignIn extends SingleKey {
  end: SignInEnd;
  cookie: string;
}

const host = 'console.localhost';

/** As a page of the console asks. */
const ofPage = (cookie?: string) => ({
  host,
  'sec-fetch-site': 'same-origin',
  'svc-console': '1',
  ...(cookie !== undefined && { cookie }),
});

/** What a cookie is used for at a process. The members are shown to an ADMIN, and no more once demoted. */
const paths = { 'token-vault': '/api/tokens', 'management-api': '/api/tenants/self/members' };

export type SignIns = Awaited<ReturnType<typeof signInsOf>>;

interface SignInsOptions {
  http: HttpClient;
  management: Node;
  managementKey: string;
}

/** People and a key that sign in to the console, are put out, and use their cookies at any process. */
export async function signInsOf({ http, management, managementKey }: SignInsOptions) {
  const noted: SignIn[] = [];
  const { singleKeyChanges, invocations } = emptyHistory();
  const grants = { type: 'management', permissions: ['application:read', 'tenant:member:read'] };
  const manage = (method: string, path: string, { url }: Node, body?: object): HttpRequest => ({
    method,
    url: url + path,
    key: managementKey,
    body,
  });
  const application = await http.obtain(manage('POST', '/applications', management, { name: 'Console', ...grants }));
  let people = 0;

  /** The cookie of a new member, and the id of the membership; undefined while that fails. */
  async function join(node: Node) {
    people += 1;
    const email = `person-${people}-${application.id}@example.com`;
    const invited = await http.send(manage('POST', '/tenants/self/invitations', node, { email, role: 'ADMIN' }));
    if (invited.status !== 201) return undefined;
    const [, token] = JSON.parse(invited.body).url.split('#');
    const accepted = await signIn(node, '/api/invitations/accept', { token });
    if (!accepted) return undefined;
    const me = await http.send({ method: 'GET', url: `${node.url}/api/me`, headers: ofPage(accepted.cookie) });
    if (me.status !== 200) return undefined;
    const { user } = JSON.parse(me.body);
    const members = await http.send(manage('GET', `/tenants/self/members?user_id=${user.id}`, node));
    return members.status === 200 ? { ...accepted, id: JSON.parse(members.body).data[0].id } : undefined;
  }

  /** The cookie of a new key, and the id of the key. */
  async function exchange(node: Node) {
    const made = await http.send(manage('POST', `/applications/${application.id}/keys`, node, {}));
    if (made.status !== 201) return undefined;
    const { id, key } = JSON.parse(made.body);
    const given = await signIn(node, '/api/sign-in', { key });
    return given && { ...given, id };
  }

  async function signIn(node: Node, path: string, body: object) {
    const sent = { method: 'POST', url: node.url + path, headers: ofPage(), body };
    const { status, headers, endedAt } = await http.send(sent);
    const cookie = headers['set-cookie']?.[0]?.split(';')[0];
    return status === 204 && cookie ? { cookie, givenAt: endedAt } : undefined;
  }

  const first = await join(management);
  if (!first) throw new Error('Nobody could sign in');

  const endings: Record<SignInEnd, (signIn: SignIn, node: Node) => HttpRequest & { due: number }> = {
    removed: ({ id }, node) => ({ ...manage('DELETE', `/tenants/self/members/${id}`, node), due: 204 }),
    demoted: ({ id }, node) => ({
      ...manage('PUT', `/tenants/self/members/${id}`, node, { role: 'DEVELOPER' }),
      due: 200,
    }),
    'signed out': ({ cookie }, node) => ({
      ...{ method: 'POST', url: `${node.url}/api/sign-out`, headers: ofPage(cookie) },
      due: 204,
    }),
    'key deleted': ({ id }, node) => ({
      ...manage('DELETE', `/applications/${application.id}/keys/${id}`, node),
      due: 204,
    }),
  };

  return {
    /** Where the end must be noticed: a demotion not in the token vault, which needs no role. */
    targetsOf: (end: SignInEnd, nodes: readonly Node[]) =>
      nodes.filter(({ service }) => service === 'management-api' || (service === 'token-vault' && end !== 'demoted')),
    /** @returns undefined where there was no success. */
    async add(end: SignInEnd, node: Node): Promise<SignIn | undefined> {
      const given = await (end === 'key deleted' ? exchange(node) : join(node));
      if (!given) return undefined;
      const ofEnd = noted.filter((one) => one.end === end);
      const number = { application: signInEnds.indexOf(end), number: ofEnd.length + 1 };
      const added: SignIn = { ...number, ...given, end, expiresAt: Infinity, expiredAt: Infinity };
      noted.push(added);
      return added;
    },
    async end(signIn: SignIn, node: Node): Promise<void> {
      const { application, number } = signIn;
      signIn.deletionSentAt = performance.now();
      const { noted: ending } = await sendChange(http, endings[signIn.end](signIn, node), { application, number });
      if (ending.outcome === 'confirmed') signIn.deletedAt = ending.endedAt;
      singleKeyChanges.push(ending);
    },
    /** Without `signIn` by the one that stays. */
    async use(end: SignInEnd, signIn: SignIn | undefined, target: Node): Promise<Invocation> {
      const path = target.service === 'token-vault' ? paths['token-vault'] : paths['management-api'];
      const headers = ofPage((signIn ?? first).cookie);
      const sent = { method: 'GET', url: target.url + path, headers, timeoutMs: 5000 };
      const { startedAt, endedAt, status, detail } = await http.send(sent);
      const isRefused = status === 401 || status === 403;
      const used: Invocation = {
        application: signInEnds.indexOf(end),
        key: signIn?.number ?? 0,
        target: target.name,
        startedAt,
        endedAt,
        outcome: isRefused ? 'refused' : status === 200 ? 'accepted' : 'undecided',
        detail,
      };
      invocations.push(used);
      return used;
    },
    history: (): History => ({
      ...emptyHistory(),
      singleKeys: noted.map((signIn) => ({ ...signIn })),
      singleKeyChanges: [...singleKeyChanges],
      invocations: [...invocations],
    }),
  };
}
