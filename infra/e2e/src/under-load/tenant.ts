import type { Credentials } from '@sluice/local';
import type { HttpClient } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { type Presented, presenting, revealing } from '../coherence/client.ts';
import type { Created } from '../platform.ts';
import type { Balancer } from './balancer.ts';

export type Tenant = Awaited<ReturnType<typeof tenantClient>>;

/** The Tenant of these credentials, at whichever processes are there. */
export async function tenantClient(
  { http, balancer }: { http: HttpClient; balancer: Balancer },
  credentials: Credentials,
) {
  const request = (method: string, path: string, body?: object) => {
    const url = `${balancer.targets('management-api')[0]?.url}${path}`;
    return { method, url, key: credentials.management_key, body };
  };
  const manage = (...parts: Parameters<typeof request>) => http.obtain<Created>(request(...parts));
  const createApplication = (name: string, grants: object) =>
    manage('POST', '/applications', { name, type: 'private', ...grants });
  const grants = revealing('create', 'update', 'read', 'search', 'delete', 'use');
  const { key } = await createApplication('Writer', grants);
  return {
    credentials,
    /** Of an Application with every permission of tokens that sees plaintext; nobody changes it. */
    tokenKey: key,
    /** As a management client does. @throws {Error} where the answer is not a success. */
    manage,
    /** The same while things fail: whatever the answer is. */
    tryManage: (...parts: Parameters<typeof request>) => http.send(request(...parts)),
    createApplication,
    createProxy: (body: object) => manage('POST', '/proxies', { name: 'Proxy', ...body }),
    async createToken(data: string) {
      const url = `${balancer.targets('token-vault')[0]?.url}/tokens`;
      return (await http.obtain({ method: 'POST', url, key, body: { type: 'token', data } })).id;
    },
    /** Invokes a Proxy at a gateway, or detokenizes at a token vault. */
    invoke: (target: Node, presented: Partial<Presented>) =>
      http.send(presenting(target, { key, timeoutMs: 8000, ...presented })),
  };
}
