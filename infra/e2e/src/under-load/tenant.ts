import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credentials } from '@sluice/local';
import { readCredentials } from '@sluice/local/parts';
import type { HttpAnswer, HttpClient } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { type Presented, presenting, revealing } from '../coherence/client.ts';
import type { Created } from '../platform.ts';
import type { Balancer } from './balancer.ts';
import type { World } from './world.ts';

/** What one Tenant can ask. */
export interface Tenant {
  credentials: Credentials;
  /** Of an Application with every permission of tokens that sees plaintext; nobody changes it. */
  tokenKey: string;
  /** As a management client does. @throws {Error} where the answer is not a success. */
  manage(method: string, path: string, body?: object): Promise<Created>;
  /** The same while things fail: whatever the answer is. */
  tryManage(method: string, path: string, body?: object): Promise<HttpAnswer>;
  /** A token with this value, and its id. */
  createToken(value: string): Promise<string>;
  createApplication(name: string, grants: object): Promise<Created>;
  createProxy(body: object): Promise<Created>;
  /** Invokes a Proxy at a gateway, or detokenizes at a token vault. */
  invoke(target: Node, presented: Partial<Presented>): Promise<HttpAnswer>;
}

/** The Tenant of these credentials, at whichever processes are there. */
export async function openTenant(
  { http, balancer }: { http: HttpClient; balancer: Balancer },
  credentials: Credentials,
): Promise<Tenant> {
  const request = (method: string, path: string, body?: object) => {
    const url = `${balancer.targets('management-api')[0]?.url}${path}`;
    return { method, url, key: credentials.management_key, body };
  };
  const manage: Tenant['manage'] = (...parts) => http.obtain(request(...parts));
  const createApplication: Tenant['createApplication'] = (name, grants) =>
    manage('POST', '/applications', { name, type: 'private', ...grants });
  const grants = revealing('create', 'update', 'read', 'search', 'delete', 'use');
  const { key: tokenKey } = await createApplication('Writer', grants);
  return {
    ...{ credentials, tokenKey, manage, createApplication },
    tryManage: (...parts) => http.send(request(...parts)),
    async createToken(value) {
      const url = `${balancer.targets('token-vault')[0]?.url}/tokens`;
      return (await http.obtain({ method: 'POST', url, key: tokenKey, body: { type: 'token', data: value } })).id;
    },
    createProxy: (body) => manage('POST', '/proxies', { name: 'Proxy', ...body }),
    invoke: (target, presented) => http.send(presenting(target, { key: tokenKey, timeoutMs: 8000, ...presented })),
  };
}

export const describeAnswer = ({ detail, body }: HttpAnswer) => `${detail} ${body.slice(0, 200)}`;

/** Creates another Tenant; the world as it is for that one. */
export async function openSecondTenant(world: World): Promise<World> {
  const directory = join(world.directory, 'second-tenant');
  await mkdir(directory);
  const credentials = await readCredentials({ directory, baseUrl: '', settings: world.settings }, world);
  return { ...world, ...(await openTenant(world, credentials)) };
}
