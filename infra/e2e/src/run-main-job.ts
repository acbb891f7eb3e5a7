import type { Stack } from '@sluice/local';
import { type CallOptions, call, type Destination, eventually } from '@sluice/testing';
import type { Created as Application } from './platform.ts';

const permissions = ['create', 'read', 'use', 'update', 'delete', 'search'].map((verb) => `token:${verb}`);
const card = { type: 'card', data: { number: '4242424242424242', cvc: '123' } };
const mergePatch = { headers: { 'Content-Type': 'application/merge-patch+json' } };

/** Sends a request with the management key, or another; an answer that is no success fails the test. */
type Send = (method: string, path: string, options?: CallOptions) => Promise<Awaited<ReturnType<typeof call>>['body']>;

/**
 * The main job and what is done beside it, through the public interface of a stack whose sweeps come each second.
 * @param beforeTheEnd called while the Application still exists.
 */
export async function runMainJob(
  { baseUrl, credentials }: Stack,
  { url }: Destination,
  beforeTheEnd: () => Promise<void> = async () => undefined,
): Promise<void> {
  const send: Send = async (method, path, options = {}) => {
    const answer = await call(baseUrl, method, path, { key: credentials.management_key, ...options });
    expect({ method, path, problem: answer.status < 300 ? undefined : answer.body }).toEqual({ method, path });
    return answer.body;
  };
  const application = await createApplications(send);
  await useTokens(send, application);
  await useProxies(send, application, url);
  await useSessions(send, application, url);
  await readTenantAndLogs(send);
  await beforeTheEnd();
  await changeKeys(send, application);
}

const soon = () => new Date(Date.now() + 2000).toISOString();

async function createApplications(send: Send): Promise<Application> {
  const body = { type: 'private', name: 'A', permissions };
  const once = { body, headers: { 'SVC-IDEMPOTENCY-KEY': 'once' } };
  const application: Application = await send('POST', '/applications', once);
  await send('POST', '/applications', once);
  await send('POST', '/applications', { body: { ...body, expires_at: soon() } });
  await send('GET', '/applications');
  await send('GET', `/applications/${application.id}`);
  await send('GET', '/applications/key');
  await send('GET', '/permissions');
  await send('PUT', `/applications/${application.id}`, { body: { name: 'B', permissions } });
  return application;
}

async function useTokens(send: Send, { key }: Application): Promise<void> {
  const token = await send('POST', '/tokens', { key, body: card });
  await send('POST', '/tokens', { key, body: { ...card, deduplicate_token: true } });
  await send('POST', '/tokens', { key, body: { data: 'soon gone', expires_at: soon() } });
  await send('POST', '/tokens', { key, body: card, headers: { 'SVC-IDEMPOTENCY-KEY': 'token' } });
  await send('POST', '/tokenize', { key, body: [card, { type: 'token', data: 1 }] });
  await send('GET', `/tokens/${token.id}`, { key });
  await send('GET', '/tokens', { key });
  await send('GET', '/v2/tokens', { key });
  await send('POST', '/tokens/search', { key, body: { query: 'type:card' } });
  await send('POST', '/detokenize', { key, body: [`{{${token.id}}}`] });
  await send('PATCH', `/tokens/${token.id}`, { key, ...mergePatch, body: { metadata: { a: 'b' } } });
  await send('DELETE', `/tokens/${token.id}`, { key });
}

async function useProxies(send: Send, { id, key }: Application, url: string): Promise<void> {
  const token = await send('POST', '/tokens', { key, body: card });
  const body = { name: 'P', destination_url: `${url}/`, application: { id }, configuration: { a: 'b' } };
  const code = 'module.exports = async ({ args, svc }) => ({ body: { ...args.body, t: await svc.tokenize("x") } })';
  const proxy = await send('POST', '/proxies', { body: { ...body, request_transform: { code } } });
  await send('GET', '/proxies?name=P*');
  await send('PUT', `/proxies/${proxy.id}`, { body });
  await send('PATCH', `/proxies/${proxy.id}`, { ...mergePatch, body: { name: 'Q', request_transform: { code } } });
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  await send('POST', '/proxy', { key, headers, body: { card: `{{${token.id}}}` } });
  await send('DELETE', `/proxies/${proxy.id}`);
}

/** One session is used and ended, one expires after its authorization, one before it. */
async function useSessions(send: Send, { key }: Application, url: string): Promise<void> {
  const publicBody = { type: 'public', name: 'page', permissions: ['token:create'] };
  const page: Application = await send('POST', '/applications', { body: publicBody });
  const token = await send('POST', '/tokens', { key, body: card });
  const proxy = await send('POST', '/proxies', { body: { name: 'S', destination_url: `${url}/` } });
  const open = async (grants: object) => {
    const session = await send('POST', '/sessions', { key: page.key });
    await send('POST', '/sessions/authorize', { key, body: { nonce: session.nonce, permissions, ...grants } });
    return session;
  };
  const session = await open({});
  await open({ expires_at: soon() });
  await send('POST', '/sessions', { key: page.key });
  const asSession = { key: session.session_key };
  await send('GET', `/tokens/${token.id}`, asSession);
  await send('POST', '/tokens', { ...asSession, body: card });
  const headers = { 'SVC-PROXY-KEY': proxy.key };
  await send('POST', '/proxy', { ...asSession, headers, body: { card: `{{${token.id}}}` } });
  await send('GET', '/sessions');
  await send('GET', `/sessions/${session.id}`);
  await send('DELETE', `/sessions/${session.id}`);
  await send('DELETE', '/sessions/self', { key: (await open({})).session_key });
  await send('DELETE', `/proxies/${proxy.id}`);
  await send('DELETE', `/applications/${page.id}`);
}

async function readTenantAndLogs(send: Send): Promise<void> {
  await send('GET', '/tenants/self');
  await send('PUT', '/tenants/self', { body: { name: 'T' } });
  await send('GET', '/tenants/self/reports/usage');
  const { data } = await send('GET', '/logs');
  for (const filter of ['entity_type=token&operation=create', `entity_id=${data[0].entity_id}`, 'trace_id=x']) {
    await send('GET', `/logs?${filter}`);
  }
  await send('GET', '/logs/export', { headers: { Accept: 'text/csv' } });
  await send('GET', '/logs/export', { headers: { Accept: 'application/x-ndjson' } });
  const sizeOf = async () => Number(String(await send('GET', '/logs/checkpoint')).split('\n')[1]);
  await eventually('a checkpoint over two rows', async () => (await sizeOf()) >= 2);
  await send('GET', `/logs/consistency?from=1&to=${await sizeOf()}`);
  const oldest = (await send('GET', '/logs?size=100')).data.at(-1);
  await send('GET', `/logs/${oldest.id}/proof`);
}

async function changeKeys(send: Send, { id, key }: Application): Promise<void> {
  const regenerated = await send('POST', `/applications/${id}/regenerate`);
  expect(regenerated.key).not.toBe(key);
  const extra = await send('POST', `/applications/${id}/keys`);
  await send('POST', `/applications/${id}/keys`, { body: { expires_at: soon() } });
  await send('GET', `/applications/${id}/keys`);
  await send('PUT', `/applications/${id}`, { body: { name: 'C', permissions } });
  await send('DELETE', `/applications/${id}/keys/${extra.id}`);
  await send('PUT', `/applications/${id}`, { body: { name: 'D', permissions } });
  await send('GET', '/tokens', { key: regenerated.key });
  await send('DELETE', `/applications/${id}`);
}
