import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readCredentials } from '@sluice/local/parts';
import type { HttpAnswer } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { invocationHeader, otherNumber, revealing } from '../coherence/client.ts';
import { openManaging, type World } from './world.ts';

export interface Requests {
  /** A token with this value, and its id. */
  createToken(value: string): Promise<string>;
  createProxy(body: Record<string, unknown>): Promise<{ id: string; key: string }>;
  invoke(gateway: Node, invocation: SingleInvocation): Promise<HttpAnswer>;
  /** The same of a token vault, for a JSON value with expressions. */
  detokenize(vault: Node, value: string): Promise<HttpAnswer>;
}

interface SingleInvocation {
  proxyKey: string;
  body: object;
  traceId?: string;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

/** Single requests of an Application that may do all with tokens; its key stays. */
export function openRequests({ http, inTurn, manage, tokenKey: key }: World): Requests {
  const method = 'POST';
  return {
    async createToken(value) {
      const body = { type: 'token', data: value };
      return (await http.obtain({ method, url: `${inTurn('token-vault', 0).url}/tokens`, key, body })).id;
    },
    createProxy: (body) => manage('POST', '/proxies', { name: 'Proxy', ...body }),
    invoke(gateway, { proxyKey, body, traceId, headers, timeoutMs = 8000 }) {
      const all = {
        ...{ [invocationHeader]: String(otherNumber()), 'svc-proxy-key': proxyKey },
        ...(traceId && { 'svc-trace-id': traceId }),
        ...headers,
      };
      return http.send({ method, url: `${gateway.url}/proxy`, key, headers: all, body, timeoutMs });
    },
    detokenize: ({ url }, body) => http.send({ method, url: `${url}/detokenize`, key, body, timeoutMs: 8000 }),
  };
}

export const describeAnswer = ({ detail, body }: HttpAnswer) => `${detail} ${body.slice(0, 200)}`;

/** Creates another Tenant; the world as it is for that one. */
export async function openSecondTenant(world: World): Promise<World> {
  const directory = join(world.directory, 'second-tenant');
  await mkdir(directory);
  const credentials = await readCredentials({ directory, baseUrl: '', settings: world.settings }, world);
  const managing = openManaging(world.http, world.balancer, credentials.management_key);
  const grants = revealing('create', 'read', 'use');
  const { key } = await managing.manage('POST', '/applications', { name: 'Second', type: 'private', ...grants });
  return { ...world, credentials, ...managing, tokenKey: key };
}
