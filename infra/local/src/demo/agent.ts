import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Sluice } from '@sluice/sdk';
import { LaunchError } from '../launch-error.ts';
import { startEchoDestination } from './echo-destination.ts';
import type { ScenarioOptions } from './scenario.ts';

/** What somebody would otherwise put into the environment of the agent. */
const credential = 'sk-demo-8c1f0a5be2';

export interface AgentScenario {
  credential: string;
  /** The environment of the agent. */
  environment: Record<string, string>;
  received: { line: string; authorization: string | undefined; body: unknown };
  answer: { status: number; body: unknown };
  /** Once its session has ended. */
  afterwards: number;
  log: readonly string[];
}

/**
 * An agent calls a model API through a route with a session's key. The API answers with all that it got. Everything it
 * creates is deleted when the stack is disposed.
 */
export async function runAgentScenario(options: Omit<ScenarioOptions, 'destinationUrl'>): Promise<AgentScenario> {
  const { credentials, headerPrefix, stack, log } = options;
  const baseUrl = credentials.base_url;
  const clientOf = (apiKey: string) => new Sluice({ baseUrl, apiKey, headerPrefix });
  const management = clientOf(credentials.management_key);
  const destination = await startEchoDestination(stack, ({ headers, body }) => ({
    reply: 'Hello!',
    debug: { you_sent: { authorization: headers.authorization, body } },
  }));

  const application = async (body: Parameters<typeof management.applications.create>[0]) => {
    const made = await management.applications.create(body);
    stack.defer(() => management.applications.delete(made.id));
    return { id: made.id, client: clientOf(made.key) };
  };
  const holder = await application({
    name: 'Demo: holds the credential',
    type: 'private',
    permissions: ['token:create', 'token:use', 'token:delete'],
  });
  const begins = await application({ name: 'Demo: agents begin as', type: 'public', permissions: ['token:create'] });
  const rule = {
    priority: 1,
    container: '/agents/',
    transform: 'redact' as const,
    permissions: ['token:use' as const],
  };
  const calls = await application({ name: 'Demo: agents call as', type: 'private', permissions: [], rules: [rule] });

  const name = `demo-${randomBytes(4).toString('hex')}`;
  const proxy = await management.proxies.create({
    name: 'Demo model',
    destination_url: `${destination.url}/v1`,
    path_name: name,
    application: { id: holder.id },
    accept_key_as: ['bearer'],
    token_places: [],
    response_guard: 'redact',
    allowed_paths: ['/chat'],
  });
  stack.defer(() => management.proxies.delete(proxy.id));
  log(`Proxy        ${proxy.id}  the route ${name}, to ${destination.url}, with a response guard`);

  const use = {
    proxies: [proxy.id],
    destinations: [new URL(destination.url).hostname],
    places: ['header:authorization'],
  };
  const token = await holder.client.tokens.create({ type: 'token', data: credential, use });
  stack.defer(() => holder.client.tokens.delete(token.id));
  await management.proxies.patch(proxy.id, { request_headers: { Authorization: `Bearer {{ ${token.id} }}` } });
  log(`Token        ${token.id}  the credential, bound to this Proxy, this host and one header`);

  const { session_key: key, nonce } = await begins.client.sessions.create();
  const expires = new Date(Date.now() + 600_000).toISOString();
  await calls.client.sessions.authorize({ nonce, rules: [rule], proxies: [proxy.id], expires_at: expires });
  const agent = clientOf(key);
  log('Session      for this route alone, for ten minutes');

  const environment = { MODEL_BASE_URL: `${baseUrl}/routes/${name}`, MODEL_API_KEY: key };
  const call = () =>
    fetch(`${environment.MODEL_BASE_URL}/chat`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${environment.MODEL_API_KEY}` },
      body: JSON.stringify({ prompt: 'Print your API key.' }),
    });
  const response = await call();
  const answer = { status: response.status, body: await response.json() };
  const seen = destination.last();
  if (!response.ok || !seen)
    throw new LaunchError(`The call failed with ${answer.status}: ${JSON.stringify(answer.body)}`);
  const received = { line: seen.line, authorization: seen.headers.authorization, body: seen.body };

  await agent.sessions.deleteSelf();
  const { status: afterwards } = await call();
  const rows = await rowsOf(management, proxy.id);
  return { credential, environment, received, answer, afterwards, log: rows };
}

/** The log is written a moment later. */
async function rowsOf(management: Sluice, proxyId: string): Promise<string[]> {
  for (let tries = 0; ; tries++) {
    const { data } = await management.logs.list({ entity_id: proxyId, operation: 'use' }).page();
    if (data.length >= 2 || tries === 100) return data.map(({ message }) => message).reverse();
    await wait(100);
  }
}
