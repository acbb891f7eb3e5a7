import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readCredentials } from '@sluice/local/parts';
import { createHttpClient, type HttpAnswer } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { invocationHeader, otherNumber, revealing } from '../coherence/client.ts';
import { manager, type World } from './world.ts';

export interface Requests {
  /** A token with this value, and its id. */
  createToken(value: string): Promise<string>;
  createProxy(body: Record<string, unknown>): Promise<{ id: string; key: string }>;
  invoke(gateway: Node | undefined, invocation: SingleInvocation): Promise<HttpAnswer>;
  /** The same of a token vault, for a JSON value with expressions. */
  detokenize(vault: Node, value: unknown): Promise<HttpAnswer>;
}

interface SingleInvocation {
  proxyKey: string;
  body: unknown;
  traceId?: string;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

const patienceMs = 8000;

/** Single requests of an Application that may do all with tokens; its key stays. */
export function openRequests(world: World, stack: AsyncDisposableStack): Requests {
  const http = createHttpClient(stack);
  const headers = { 'svc-api-key': world.tokenKey, 'content-type': 'application/json' };
  const post = (url: string, body: unknown, own: Record<string, string>, timeoutMs = patienceMs) =>
    http.send({ method: 'POST', url, headers: { ...headers, ...own }, body: JSON.stringify(body), timeoutMs });
  return {
    async createToken(value) {
      const url = `${world.of('token-vault')[0]?.url}/tokens`;
      const answer = await post(url, { type: 'token', data: value }, {}, 20_000);
      if (answer.status !== 201) throw new Error(`No token: ${describeAnswer(answer)}`);
      return (JSON.parse(answer.body) as { id: string }).id;
    },
    createProxy: (body) => world.manage('POST', '/proxies', { name: 'Proxy', ...body }),
    invoke(gateway, { proxyKey, body, traceId, headers: own, timeoutMs }) {
      const number = { [invocationHeader]: String(otherNumber()) };
      const more = { ...number, 'svc-proxy-key': proxyKey, ...(traceId && { 'svc-trace-id': traceId }), ...own };
      return post(`${gateway?.url}/proxy`, body, more, timeoutMs);
    },
    detokenize: ({ url }, value) => post(`${url}/detokenize`, value, {}),
  };
}

export const describeAnswer = ({ detail, body }: HttpAnswer) => `${detail} ${body.slice(0, 200)}`;

/** Creates another Tenant; the world as it is for that one. */
export async function openSecondTenant(world: World, stack: AsyncDisposableStack): Promise<World> {
  const directory = join(world.directory, 'second-tenant');
  await mkdir(directory);
  const credentials = await readCredentials({ directory, baseUrl: '', settings: world.settings }, world);
  const managing = manager(() => world.of('management-api')[0]?.url, credentials.management_key, stack);
  const grants = revealing('create', 'read', 'use');
  const { key } = await managing.manage('POST', '/applications', { name: 'Second', type: 'private', ...grants });
  return { ...world, credentials, ...managing, tokenKey: key };
}
