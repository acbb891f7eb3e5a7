import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { json } from 'node:stream/consumers';
import {
  fieldsOperations as fieldsOfManagement,
  operations as managementOperations,
  operationsByCookie,
} from '@sluice/management-api';
import { operations as gatewayOperations } from '@sluice/proxy-gateway';
import { useStack } from '@sluice/testing';
import {
  fieldsOperations as fieldsOfVault,
  operations as tokenOperations,
  operationsByCookie as tokensByCookie,
} from '@sluice/token-vault';
import { startPlatform } from './platform.ts';

const platform = useStack((closing) => startPlatform(closing));

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
afterAll(() => agent.destroy());

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  detail: string;
}

/** Node does not find `*.localhost`, and fetch sends no other Host than that of the address. */
function ask(url: string, line: string, headers: Record<string, string> = {}): Promise<Answer> {
  const [method, path = ''] = line.split(' ');
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers, agent, setHost: headers.host === undefined });
    sent.on('error', reject).on('response', (response) => {
      const answer = { status: response.statusCode ?? 0, headers: response.headers };
      const isText = method === 'HEAD' || !/json/.test(response.headers['content-type'] ?? '');
      if (isText) response.resume().on('end', () => resolve({ ...answer, detail: '' }));
      else json(response).then((body) => resolve({ ...answer, detail: detailOf(body) }), reject);
    });
    sent.end();
  });
}

function detailOf(body: unknown): string {
  const { detail, proxy_error } = body as { detail?: string; proxy_error?: { detail: string } };
  return detail ?? proxy_error?.detail ?? '';
}

const placeholder = '00000000-0000-4000-8000-000000000000';
const lines = (operations: readonly { method: string; path: string }[]) =>
  operations.map(({ method, path }) => `${method.toUpperCase()} ${path.replace(/:\w+/g, placeholder)}`);

const pages = ['/', '/docs', '/openapi.json'].map((path) => `GET ${path}`);
const ledgerKey = `GET /.well-known/sluice-ledger-key/${placeholder}`;

/** What each service answers to at the base host. */
const served = {
  managementApi: [...lines(managementOperations), ...pages, ledgerKey],
  tokenVault: [...lines(tokenOperations), 'OPTIONS /tokens', 'OPTIONS /tokenize'],
  proxyGateway: [
    ...lines(gatewayOperations),
    ...['GET /proxy', 'POST /proxy/a', 'DELETE /proxy/', 'OPTIONS /proxy', 'GET /routes/shop', 'POST /routes/shop/a'],
  ],
};
const all = Object.values(served).flat();
const signInPages = ['/sign-in', '/sign-out', '/invitation'].map((path) => `GET ${path}`);
const reference = ['/docs', '/docs/search.js', '/openapi.json'].map((path) => `GET ${path}`);
/** By cookie, to sign in, and to read. */
const ofConsole = [...lines(operationsByCookie), ...signInPages, ...reference];
/** What is nowhere, or at one other host only. */
const others = ['GET /routes', 'GET /sign-in', 'GET /elements/field'];

type Service = keyof typeof served;

/** What each service serves at the other hosts; all else is not there. */
const servedElsewhere: Record<string, Partial<Record<Service, string[]>>> = {
  'console.localhost': { managementApi: ofConsole, tokenVault: lines(tokensByCookie) },
  'fields.localhost': {
    managementApi: lines(fieldsOfManagement),
    // There `search` is the id of a token.
    tokenVault: [...lines(fieldsOfVault), 'GET /tokens/search', 'GET /elements/field', 'GET /elements/0.1.0/field.js'],
  },
  'shop.routes.localhost': {},
  'routes.localhost': {},
  'a.b.routes.localhost': {},
};
const hosts = Object.keys(servedElsewhere);

/** The ingress and each service behind it, which judges the Host itself. */
const entrances = ['ingress', 'managementApi', 'tokenVault', 'proxyGateway'] as const;

function urlOf(entrance: (typeof entrances)[number]): string {
  const { baseUrl, serviceUrls } = platform.current.stack;
  return entrance === 'ingress' ? baseUrl : serviceUrls[entrance];
}

/** Few at a time. */
async function each<T>(items: readonly T[], act: (item: T) => Promise<string | undefined>): Promise<string[]> {
  const found: string[] = [];
  const left = items.values();
  const work = async () => {
    for (const item of left) found.push((await act(item)) ?? '');
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return found.filter((text) => text !== '').toSorted();
}

const isThere = ({ status, detail }: Answer) => status !== 404 || !detail.startsWith('The path ');

test('at the base host each operation is served, by the ingress and by its service', async () => {
  expect(all.length).toBeGreaterThan(50);
  for (const [service, own] of Object.entries(served)) {
    for (const url of [urlOf('ingress'), urlOf(service as Service)]) {
      const missing = await each(own, async (line) => (isThere(await ask(url, line)) ? undefined : line));
      expect(missing).toEqual([]);
    }
  }
});

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const pathsOf = (asked: readonly string[]) => [...new Set(asked.map((line) => line.split(' ')[1] ?? ''))];

/** Without it `/api` refuses what it has and what it does not have alike. */
const ofOwnPage = { 'sec-fetch-site': 'same-origin', 'SVC-CONSOLE': '1' };

/** The paths that are served for any method, with the Tenant's key. */
function findServed(url: string, paths: readonly string[], host?: string): Promise<string[]> {
  const { management_key: key } = platform.current.stack.credentials;
  const asked = paths.flatMap((path) => methods.map((method) => `${method} ${path}`));
  return each(asked, async (line) => {
    const at = host === undefined ? {} : { host: `${host}:8080` };
    const answer = await ask(url, line, { ...at, ...ofOwnPage, 'SVC-API-KEY': key });
    const isHead = line.startsWith('HEAD') && answer.status === 404;
    const isForOthers = answer.headers['access-control-allow-origin'] !== undefined;
    return (!isHead && isThere(answer)) || isForOthers ? `${line}: ${answer.status}` : undefined;
  });
}

test.each(entrances)('at the base host nothing of the console is there: %s', async (entrance) => {
  expect(ofConsole.length).toBeGreaterThan(30);
  const only = pathsOf(ofConsole).filter((path) => /^\/(api\/|sign-|invitation|docs\/search)/.test(path));
  expect(await findServed(urlOf(entrance), only)).toEqual([]);
});

const ofRoute = 'shop.routes.localhost';
const servingRoutes: readonly string[] = ['ingress', 'proxyGateway'];

describe.each(hosts)('at %s', (host) => {
  const own = servedElsewhere[host] ?? {};
  const ownOf = (entrance: (typeof entrances)[number]) =>
    entrance === 'ingress' ? Object.values(own).flat() : (own[entrance] ?? []);

  // The gateway takes every path there for the route's
  const refusing = entrances.filter((entrance) => host !== ofRoute || !servingRoutes.includes(entrance));

  test.each(refusing)('nothing of another host is there, by any method and with a key: %s', async (entrance) => {
    const mayBe = pathsOf(ownOf(entrance));
    const paths = pathsOf([...all, ...others, ...ofConsole]).filter((path) => !mayBe.includes(path));
    expect(await findServed(urlOf(entrance), paths, host)).toEqual([]);
  });

  test('what is its own is there', async () => {
    for (const entrance of entrances) {
      const find = async (line: string) => (isThere(await ask(urlOf(entrance), line, { host })) ? undefined : line);
      expect(await each(ownOf(entrance), find)).toEqual([]);
    }
  });
});

test.each(['ingress', 'proxyGateway'] as const)(
  'at the host of a route every path is the route: %s',
  async (entrance) => {
    const { key } = await platform.current.createApplication({ permissions: ['token:use'] });
    const asked = pathsOf([...all, ...others, ...ofConsole]).flatMap((path) =>
      methods.map((method) => `${method} ${path}`),
    );
    const headers = { host: `${ofRoute}:8080`, ...ofOwnPage, 'SVC-API-KEY': key };
    const different = await each(asked, async (line) => {
      const { status, detail } = await ask(urlOf(entrance), line, headers);
      const isRoute = status === 404 && (line.startsWith('HEAD') || detail === 'There is no route shop');
      return isRoute ? undefined : `${line}: ${status}`;
    });
    expect(different).toEqual([]);
  },
);

test('the Tenant, whose key was sent to every operation of every other host, is as it was', async () => {
  expect((await platform.current.manage('GET', '/tenants/self')).status).toBe(200);
});

describe('for browsers', () => {
  const navigation = { 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' };

  test.each(['GET /docs', 'GET /tokens', 'GET /proxy', 'GET /nowhere'])(
    'the script of a service worker is refused on the base host: %s',
    async (line) => {
      expect((await ask(urlOf('ingress'), line, { 'service-worker': 'script' })).status).toBe(403);
      expect((await ask(urlOf('ingress'), line)).status).not.toBe(403);
    },
  );

  test.each(['/proxy', '/proxy/a', '/routes', '/routes/shop'])('a refusal under %s is sandboxed', async (path) => {
    const { headers } = await ask(urlOf('ingress'), `GET ${path}`, navigation);
    expect(headers['content-security-policy']).toBe('sandbox');
    expect((await ask(urlOf('ingress'), `GET ${path}`)).headers['content-security-policy']).toBeUndefined();
  });

  test('so is what is at a host of routes', async () => {
    const { status, headers } = await ask(urlOf('ingress'), 'GET /', { ...navigation, host: ofRoute });
    expect([status, headers['content-security-policy']]).toEqual([401, 'sandbox']);
  });
});
