import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchJson } from './api-client.ts';
import type { BenchmarkStack } from './start-benchmark-stack.ts';

/** A Tenant as its own backend sees it, through the public interface. */
export interface Tenant {
  /** Key of an Application, by default with permission to create and use tokens. */
  apiKey: string;
  applicationId: string;
  /** @returns the id of a new token. */
  createCard(card: object): Promise<string>;
  /** @returns the id of a new token with these data. */
  createToken(data: object): Promise<string>;
  /** @returns the ids of this many new tokens; their data is `value 0`, `value 1` and so on. */
  createTokens(count: number): Promise<string[]>;
  /** @returns the ids of new tokens with these texts. */
  tokenize(texts: readonly string[]): Promise<string[]>;
  /** @returns the key of a new Proxy that requires an API key. */
  createProxy(destinationUrl: string, parts?: object): Promise<string>;
}

/** Opens the stack's own Tenant, or another with its management key, by an Application with these grants. */
export async function createTenant(
  { serviceUrls, credentials }: Pick<BenchmarkStack, 'serviceUrls' | 'credentials'>,
  signal: AbortSignal,
  grants: object = { permissions: ['token:create', 'token:use'] },
): Promise<Tenant> {
  const { managementApi, tokenVault } = serviceUrls;
  const post = async <T>(url: string, key: string, body: object): Promise<T> => {
    const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
    return (await fetchJson<T>({ url, headers, body: JSON.stringify(body), signal })).body;
  };
  const manage = <T>(path: string, body: object) => post<T>(managementApi + path, credentials.management_key, body);
  const application = { name: 'Benchmark', type: 'private', ...grants };
  const { key: apiKey, id } = await manage<{ key: string; id: string }>('/applications', application);
  const create = async (token: object) => (await post<{ id: string }>(`${tokenVault}/tokens`, apiKey, token)).id;
  const tokenize = (texts: readonly string[]) => post<string[]>(`${tokenVault}/tokenize`, apiKey, texts);
  return {
    apiKey,
    applicationId: id,
    tokenize,
    createCard: (data) => create({ type: 'card', data }),
    createToken: (data) => create({ data }),
    async createTokens(count) {
      const ids: string[] = [];
      while (ids.length < count) {
        const body = Array.from({ length: Math.min(1000, count - ids.length) }, (_, i) => `value ${ids.length + i}`);
        ids.push(...(await tokenize(body)));
      }
      return ids;
    },
    async createProxy(destinationUrl, parts = {}) {
      const body = { name: 'Benchmark', destination_url: destinationUrl, require_auth: true, ...parts };
      return (await manage<{ key: string }>('/proxies', body)).key;
    },
  };
}

const command = join(import.meta.dirname, '../../../../services/management-api/src/tenants/tenant.command.ts');

/** Creates a Tenant beside that of the stack. */
export async function addTenant({ environment }: BenchmarkStack, signal: AbortSignal) {
  const args = [command, 'create', '--name', 'Another', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment, signal });
  const { tenant_id: tenantId, management_key: key } = JSON.parse(stdout);
  return { tenantId: tenantId as string, headers: { 'SVC-API-KEY': key as string } };
}
