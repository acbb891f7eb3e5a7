import { generateSecret, hashKey, readPepper } from '@sluice/credentials';
import {
  type Answer,
  type CallOptions,
  callByHost,
  insertTestMember,
  oncePerWorker,
  testRedisUrl,
} from '@sluice/testing';
import { insertLink } from '../people/sign-ins/link.queries.ts';
import { openManagement, startTestManagement, unobserved, withTenants } from './test-management.ts';

const host = 'console.test';

const consoleSettings = { CONSOLE_HOST: host, CONSOLE_LINK_SIGN_IN: 'true' };

/** The API with its console. `browser()` is a browser at the console's host, with its own cookie. */
export async function startTestConsole(stack: AsyncDisposableStack, settings: Record<string, string> = {}) {
  return withBrowsers(await startTestManagement(stack, { ...consoleSettings, ...settings }));
}

const sharedConsole = oncePerWorker((stack) =>
  openManagement(stack, { ...consoleSettings, REDIS_URL: testRedisUrl('console') }),
);

/** As `shareTestManagement`, with the console. */
export async function shareTestConsole() {
  return withBrowsers(await withTenants(unobserved(await sharedConsole())));
}

type Api = ReturnType<typeof unobserved> & { tenant: { tenant_id: string } };

function withBrowsers<A extends Api>(api: A) {
  const pepper = readPepper(api.secrets.KEY_PEPPER);

  async function link(tenantId: string, userId: string): Promise<string> {
    const secret = generateSecret();
    await insertLink(api.db, { tenantId, userId, secretHash: hashKey(pepper, secret) });
    return secret;
  }

  function browser() {
    const state = { cookie: '', attempt: '' };
    const send = async (
      method: string,
      path: string,
      { headers = {}, ...options }: CallOptions = {},
    ): Promise<Answer> => {
      const own = { Host: host, 'Sec-Fetch-Site': 'same-origin', ...(isWrite(method) && { 'SVC-CONSOLE': '1' }) };
      const cookies = [state.cookie, state.attempt].filter((pair) => pair !== '');
      const cookie = cookies.length > 0 && { Cookie: cookies.join('; ') };
      const answer = await callByHost(api.url, method, path, {
        ...options,
        headers: { ...own, ...cookie, ...headers },
      });
      const [given] = (answer.headers.get('set-cookie') ?? '').split(';');
      if (given) state[given.startsWith('__Host-sluice=') ? 'cookie' : 'attempt'] = given.endsWith('=') ? '' : given;
      return answer;
    };
    const signIn = (body: object, headers = {}) => send('POST', '/api/sign-in', { body, headers });
    return { state, send, signIn };
  }

  type Role = Parameters<typeof insertTestMember>[1]['role'];

  /** A person with this role, who is signed in. */
  async function member(
    role: Role,
    { tenantId = api.tenant.tenant_id, ...part }: { tenantId?: string; userId?: string } = {},
  ) {
    const { id, userId } = await insertTestMember(api.db, { tenantId, role, ...part });
    return { id, userId, ...(await signedIn(userId, tenantId)) };
  }

  async function signedIn(userId: string, tenantId = api.tenant.tenant_id) {
    const opened = browser();
    const { status } = await opened.signIn({ secret: await link(tenantId, userId) });
    if (status !== 204) throw new Error(`sign-in answered ${status}`);
    return opened;
  }

  return { ...api, pepper, link, browser, member, signedIn };
}

const isWrite = (method: string) => method !== 'GET' && method !== 'HEAD';
