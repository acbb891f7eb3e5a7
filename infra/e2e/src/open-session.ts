import type { Platform } from './platform.ts';

interface World {
  platform: Platform;
  destination: { url: string };
}

const rule = {
  priority: 1,
  container: '/general/',
  transform: 'reveal',
  permissions: ['token:read', 'token:use', 'token:create'],
};

/** When each thing that a session depends on expires; what is not named does not. */
interface Expiries {
  maker?: string;
  backend?: string;
  key?: string;
}

/**
 * A session with these members, of an Application with `token:use` and reveal on /general/, and one token in /general/.
 */
export async function openSession({ platform, destination }: World, part: object, expiries: Expiries = {}) {
  const backend = await platform.createApplication({ rules: [rule], expires_at: expiries.backend });
  const page = await platform.createApplication({
    type: 'public',
    permissions: ['token:create'],
    expires_at: expiries.maker,
  });
  const token = (await platform.call('POST', '/tokens', { key: backend.key, body: { data: 'a secret value' } })).body;
  const proxy = await platform.createProxy({ destination_url: destination.url });
  const added =
    expiries.key && (await platform.manage('POST', `/applications/${backend.id}/keys`, { expires_at: expiries.key }));
  const made = (await platform.call('POST', '/sessions', { key: page.key })).body;
  const { status, body } = await platform.call('POST', '/sessions/authorize', {
    key: added ? added.body.key : backend.key,
    body: { nonce: made.nonce, ...part },
  });
  if (status !== 200) throw new Error(`authorize answered ${status}: ${JSON.stringify(body)}`);
  const key: string = made.session_key;
  const read = () => platform.call('GET', `/tokens/${token.id}`, { key });
  const invoke = (proxyKey = proxy.key) =>
    platform.call('POST', '/proxy', {
      key,
      headers: { 'SVC-PROXY-KEY': proxyKey },
      body: { value: `{{${token.id}}}` },
    });
  return { platform, backend, page, token, proxy, id: made.id as string, key, read, invoke };
}

export type OpenSession = Awaited<ReturnType<typeof openSession>>;
