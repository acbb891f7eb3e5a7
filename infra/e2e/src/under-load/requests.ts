import { createHttpClient, type HttpAnswer, NoAnswer } from '../cluster/http-client.ts';
import type { Node } from '../cluster/node.ts';
import { invocationHeader } from '../coherence/counting-destination.ts';
import type { World } from './world.ts';

export interface Requests {
  /** A token with this value, and its id. */
  createToken(value: string, vault?: Node | undefined): Promise<string>;
  createProxy(body: Record<string, unknown>): Promise<{ id: string; key: string }>;
  /** The answer of a gateway, or why there is none. */
  invoke(gateway: Node, invocation: SingleInvocation): Promise<HttpAnswer | string>;
  /** The same of a token vault, for a JSON value with expressions. */
  detokenize(vault: Node, value: unknown, traceId?: string): Promise<HttpAnswer | string>;
}

interface SingleInvocation {
  proxyKey: string;
  body: unknown;
  traceId?: string;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

const patienceMs = 8000;

/** Numbers at which no invocation of another client is. */
let lastNumber = -1_000_000_000;

/** Single requests of an Application that may do all with tokens; its key stays. */
export function openRequests(world: World, stack: AsyncDisposableStack): Requests {
  const http = stack.adopt(createHttpClient(), (opened) => opened.close());
  const headers = { 'svc-api-key': world.tokenKey, 'content-type': 'application/json' };

  async function post(url: string, body: unknown, own: Record<string, string>, timeoutMs = patienceMs) {
    const request = { method: 'POST', url, headers: { ...headers, ...own }, body: JSON.stringify(body), timeoutMs };
    try {
      return await http.send(request);
    } catch (error) {
      if (error instanceof NoAnswer) return error.code;
      throw error;
    }
  }

  return {
    async createToken(value, vault = world.of('token-vault')[0]) {
      const answer = await post(`${vault?.url}/tokens`, { type: 'token', data: value }, {}, 20_000);
      if (typeof answer === 'string' || answer.status !== 201) throw new Error(`No token: ${describeAnswer(answer)}`);
      return (JSON.parse(answer.body) as { id: string }).id;
    },
    createProxy: (body) => world.manage('POST', '/proxies', { name: 'Proxy', ...body }),
    invoke({ url }, { proxyKey, body, traceId, headers: own, timeoutMs }) {
      lastNumber -= 1;
      const number = { [invocationHeader]: String(lastNumber) };
      const more = { ...number, 'svc-proxy-key': proxyKey, ...(traceId && { 'svc-trace-id': traceId }), ...own };
      return post(`${url}/proxy`, body, more, timeoutMs);
    },
    detokenize: ({ url }, value, traceId) =>
      post(`${url}/detokenize`, value, { ...(traceId && { 'svc-trace-id': traceId }) }),
  };
}

/** A status, or why there is none. */
export function statusOf(answer: HttpAnswer | string): string {
  return typeof answer === 'string' ? answer : String(answer.status);
}

export function describeAnswer(answer: HttpAnswer | string): string {
  return typeof answer === 'string' ? answer : `${answer.status} ${answer.body.slice(0, 200)}`;
}
