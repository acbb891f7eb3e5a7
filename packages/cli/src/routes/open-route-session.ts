import { randomBytes } from 'node:crypto';
import { Sluice, SluiceError } from '@sluice/sdk';
import type { ProfileClients } from '../profile/connect.ts';
import type { RouteProxy } from './find-routes.ts';
import { type Grants, grantsFor } from './session-rules.ts';

export interface RouteSessionOptions extends Grants {
  /** Life of the session, at most 24 hours. */
  seconds: number;
  signal: AbortSignal;
  /** Called with the key, and awaited, before it is worth anything, so that whoever ends the session knows it in time. */
  onKey?: (key: string) => void | Promise<void>;
}

export interface RouteSession {
  id: string;
  key: string;
  /** With this key. */
  client: Sluice;
  /** Of this session alone, such as `/agents/3f9c…/`. */
  container: string;
  expiresAt: Date;
  /** Resolves when every service refuses the key; also if the session had ended already. @throws {SluiceError} */
  end(options?: { timeoutMs?: number }): Promise<void>;
}

/**
 * Makes a session that may call exactly these Proxies: with the profile's public key, authorized with its private key.
 * @throws {UsageError} if it would need more rules than a session may have. @throws {SluiceError}
 */
export async function openRouteSession(
  clients: ProfileClients,
  proxies: readonly RouteProxy[],
  options: RouteSessionOptions,
): Promise<RouteSession> {
  const { seconds, signal, onKey, ...grants } = options;
  const container = `/agents/${randomBytes(16).toString('hex')}/`;
  const given = grantsFor(proxies, container, grants);
  // By the clock of the service, because one that is behind ours would refuse 24 hours as too many.
  let now = Date.now();
  const onHeaders = (headers: Headers) => {
    now = Date.parse(headers.get('Date') ?? '') || now;
  };
  const { id, session_key: key, nonce } = await clients.public.sessions.create({ signal, onHeaders });
  await onKey?.(key);
  const expiresAt = new Date(now + seconds * 1000);
  const named = { proxies: proxies.map((proxy) => proxy.id), expires_at: expiresAt.toISOString() };
  await clients.private.sessions.authorize({ nonce, ...given, ...named }, { signal });
  const client = new Sluice({ baseUrl: clients.url, apiKey: key, headerPrefix: clients.headerPrefix });
  const end: RouteSession['end'] = async (ending = {}) => {
    try {
      await client.sessions.deleteSelf(ending);
    } catch (error) {
      // It had ended: of itself, or by another DELETE.
      if (!(error instanceof SluiceError && error.status === 401)) throw error;
    }
  };
  return { id, key, client, container, expiresAt, end };
}
