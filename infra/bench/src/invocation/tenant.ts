import type { Stack } from '@sluice/local';

/** A Tenant as its own backend sees it, through the public interface. */
export interface Tenant {
  /** Key of an Application, by default with permission to create and use tokens. */
  apiKey: string;
  applicationId: string;
  /** @returns the id of a new token. */
  createCard(card: object): Promise<string>;
  /** @returns the ids of this many new tokens; their data is `value 0`, `value 1` and so on. */
  createTokens(count: number): Promise<string[]>;
  /** @returns the key of a new Proxy that requires an API key. */
  createProxy(destinationUrl: string, parts?: object): Promise<string>;
}

export async function createTenant(
  { serviceUrls, credentials }: Stack,
  signal: AbortSignal,
  permissions: readonly string[] = ['token:create', 'token:use'],
): Promise<Tenant> {
  const { managementApi, tokenVault } = serviceUrls;
  const { key: apiKey, id: applicationId } = await post<{ key: string; id: string }>(`${managementApi}/applications`, {
    key: credentials.management_key,
    body: { name: 'Benchmark', type: 'private', permissions },
    signal,
  });
  return {
    apiKey,
    applicationId,
    async createCard(data) {
      const body = { type: 'card', data };
      return (await post<{ id: string }>(`${tokenVault}/tokens`, { key: apiKey, body, signal })).id;
    },
    async createTokens(count) {
      const ids: string[] = [];
      while (ids.length < count) {
        const body = Array.from({ length: Math.min(1000, count - ids.length) }, (_, i) => `value ${ids.length + i}`);
        ids.push(...(await post<string[]>(`${tokenVault}/tokenize`, { key: apiKey, body, signal })));
      }
      return ids;
    },
    async createProxy(destinationUrl, parts = {}) {
      const body = { name: 'Benchmark', destination_url: destinationUrl, require_auth: true, ...parts };
      const key = credentials.management_key;
      return (await post<{ key: string }>(`${managementApi}/proxies`, { key, body, signal })).key;
    },
  };
}

async function post<T>(
  url: string,
  { key, body, signal }: { key: string; body: object; signal: AbortSignal },
): Promise<T> {
  const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
  if (!answer.ok) throw new Error(`POST ${url} was answered with ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}
