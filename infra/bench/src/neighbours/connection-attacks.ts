import { randomBytes } from 'node:crypto';
import type { Stack } from '@sluice/local';
import { fetchJson } from '../stack/api-client.ts';
import type { BenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { addTenant, createTenant, type Tenant } from '../stack/tenant.ts';
import type { HostileRequest } from './attack-during.ts';
import { fillCounts } from './fill-counts.ts';
import { fillLog } from './fill-log.ts';

/** Requests that keep connections to Postgres busy. */
export interface ConnectionAttack extends HostileRequest {
  service: keyof Stack['serviceUrls'];
}

interface Form {
  method?: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

const json = { 'Content-Type': 'application/json' };
export const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

/** Lets its Application do everything with tokens. */
export const everything = {
  rules: [
    {
      ...{ description: 'All', priority: 1, container: '/', transform: 'reveal' },
      permissions: ['token:create', 'token:read', 'token:search', 'token:update', 'token:use'],
    },
  ],
};

const large = { tokens: 120, metadataBytes: 1_000_000, atOnce: 6 };
const smallTokens = 20_000;
const logRows = 24_000;
/** As many as a large team has. */
const named = { applications: 500, proxies: 300, atOnce: 10 };
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];

/** Creates a Tenant with what its attacks need: large metadata, many tokens, a long log, many names and a month of counts. */
export async function prepareAttacks(stack: BenchmarkStack, signal: AbortSignal): Promise<ConnectionAttack[]> {
  const { tenantId, headers } = await addTenant(stack, signal);
  const manage = { ...headers, ...json };
  const credentials = { ...stack.credentials, management_key: headers['SVC-API-KEY'] };
  const tenant = await createTenant({ ...stack, credentials }, signal, everything);
  const { applicationId: regenerated } = await createTenant({ ...stack, credentials }, signal);
  const use = { 'SVC-API-KEY': tenant.apiKey, ...json };
  const [token = ''] = await tenant.createTokens(smallTokens);
  await createLargeTokens(stack, tenant, signal);
  await fillLog(stack.databaseUrl, tenantId, logRows);
  await fillCounts(stack.databaseUrl, tenantId);
  await createNamed({ ...stack, credentials }, tenant, signal);
  const tokenize = `module.exports = async ({ svc }) => {
    await svc.tokenize(Array.from({ length: 2500 }, (_, at) => 'value ' + at)); return {} }`;
  const application = { application: { id: tenant.applicationId }, request_transform: { code: tokenize } };
  const proxyKey = await tenant.createProxy('http://127.0.0.1:1', application);
  const attack = (service: ConnectionAttack['service'], name: string, atOnce: number, form: Form): ConnectionAttack => {
    const { path, body, ...more } = form;
    const url = stack.serviceUrls[service] + path;
    const own = service === 'managementApi' ? manage : use;
    return {
      ...{ name, service, url, method: 'POST', attempts: { atOnce }, ...more },
      headers: { ...own, ...form.headers },
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    };
  };
  const query = `NOT (${keys.map((key) => `metadata.${key}:1`).join(' AND ')})`;
  const values = Array.from({ length: 5000 }, (_, at) => `value ${at}`);
  const patched = { metadata: { at: 'a value' } };
  return [
    attack('tokenVault', 'searches with NOT over metadata', 12, { path: '/tokens/search', body: { query } }),
    attack('tokenVault', 'creations of equal tokens', 150, {
      path: '/tokens',
      body: { data: 'equal', deduplicate_token: true },
    }),
    attack('managementApi', 'new keys of one Application', 150, {
      path: `/applications/${regenerated}/regenerate`,
    }),
    attack('managementApi', 'page 200 of the log', 150, { method: 'GET', path: '/logs?size=100&page=200' }),
    attack('managementApi', 'searches by name', 150, { method: 'GET', path: '/search?q=Benchmark' }),
    attack('managementApi', 'metrics of a month', 150, { method: 'GET', path: '/tenants/self/metrics?range=month' }),
    attack('tokenVault', 'page 190 of the tokens', 150, { method: 'GET', path: '/tokens?size=100&page=190' }),
    attack('tokenVault', '/tokenize of 5,000', 24, { path: '/tokenize', body: values }),
    attack('tokenVault', 'patches of one token', 450, {
      ...{ method: 'PATCH', path: `/tokens/${token}`, body: patched, headers: mergePatch },
    }),
    attack('proxyGateway', 'svc.tokenize of 2,500', 24, {
      ...{ path: '/proxy', body: {}, headers: { 'SVC-PROXY-KEY': proxyKey } },
    }),
  ];
}

/** Their metadata does not compress, so that Postgres must read all of it. */
async function createLargeTokens({ serviceUrls }: BenchmarkStack, { apiKey }: Tenant, signal: AbortSignal) {
  const few = Object.fromEntries(keys.map((key) => [key, '1']));
  const headers = { 'SVC-API-KEY': apiKey, ...json };
  const create = () => {
    const metadata = { ...few, large: randomBytes(large.metadataBytes * 0.75).toString('base64') };
    const body = JSON.stringify({ data: 'x', metadata });
    return fetchJson({ url: `${serviceUrls.tokenVault}/tokens`, headers, body, signal });
  };
  for (let n = 0; n < large.tokens; n += large.atOnce) await Promise.all(Array.from({ length: large.atOnce }, create));
}

/** Applications and Proxies with the name that searches look for. */
async function createNamed(
  stack: Pick<BenchmarkStack, 'serviceUrls' | 'credentials'>,
  tenant: Tenant,
  signal: AbortSignal,
) {
  const create = [
    ...Array.from({ length: named.applications }, () => () => createTenant(stack, signal)),
    ...Array.from({ length: named.proxies }, () => () => tenant.createProxy('http://127.0.0.1:1')),
  ];
  while (create.length > 0) await Promise.all(create.splice(0, named.atOnce).map((one) => one()));
}
