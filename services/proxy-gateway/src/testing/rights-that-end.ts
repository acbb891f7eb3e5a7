import { tagOf } from '@sluice/cache-coherence';
import type { TestGateway } from './test-gateway.ts';
import type { ProxyParts } from './test-tenant.ts';

interface Ids {
  application: string;
  proxy: string;
  token: string;
}

/** What happens to the rows of an invocation that waits. @returns the tags to announce, if any. */
export type Happening = (gateway: TestGateway, ids: Ids) => Promise<string[]>;

export const nothing: Happening = async () => [];

export const revoked: Happening = async ({ db }, { application: id }) => {
  await db.deleteFrom('applications').where('id', '=', id).execute();
  return [tagOf.application(id)];
};

export const proxyDeleted: Happening = async ({ db }, { proxy: id }) => {
  await db.deleteFrom('proxies').where('id', '=', id).execute();
  return [tagOf.proxy(id)];
};

/** Lets it happen, until the gateway has confirmed it. */
export async function happen(gateway: TestGateway, happens: Happening, ids: Ids): Promise<void> {
  const tags = await happens(gateway, ids);
  if (tags.length > 0) await gateway.announce(gateway.tenant.id, tags);
}

export const value = 'the value';

interface Rows {
  token?: object;
  application?: { expiresAt: Date };
}

/** An Application, a Proxy, and a token that holds {@link value}. */
export async function createRows(
  { tenant, destination }: TestGateway,
  parts: Partial<ProxyParts> = {},
  rows: Rows = {},
) {
  const application = await tenant.application(rows.application);
  const proxy = await tenant.proxy({ destination: destination.url, ...parts });
  const token = await tenant.token({ data: value, ...rows.token });
  const ids: Ids = { application: application.id, proxy: proxy.id, token };
  return { application, proxy, token, ids };
}

interface Sent {
  key?: string;
  proxyKey: string;
  body: string | ReadableStream<Uint8Array>;
}

export async function send({ url }: TestGateway, { key, proxyKey, body }: Sent) {
  const headers = { 'SVC-PROXY-KEY': proxyKey, 'Content-Type': 'application/json', ...(key && { 'SVC-API-KEY': key }) };
  const how = typeof body === 'string' ? {} : { duplex: 'half' as const };
  const answer = await fetch(`${url}/proxy`, { method: 'POST', headers, body, ...how });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() };
}
