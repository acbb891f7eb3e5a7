import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Sluice, SluiceError } from '@sluice/sdk';
import type { ProfileClients } from '../profile/connect.ts';
import type { RouteProxy } from './find-routes.ts';
import { type Grants, grantsFor } from './session-rules.ts';

const endWithinMs = 5000;
const pauseMs = 250;

export interface RouteSessionOptions extends Grants {
  /** Life of the session, at most 24 hours. */
  seconds: number;
  signal: AbortSignal;
  /**
   * Called with the key, and awaited, before it is worth anything. Whoever is given it ends the session, also if the
   * authorization fails.
   */
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
 * If that fails, the service may have authorized it nevertheless; so it is ended, which takes 5 s at most.
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
  const client = new Sluice({ baseUrl: clients.url, apiKey: key, headerPrefix: clients.headerPrefix });
  try {
    await clients.private.sessions.authorize({ nonce, ...given, ...named }, { signal });
  } catch (error) {
    if (!onKey) await endUnconfirmed(client, error);
    throw error;
  }
  const end: RouteSession['end'] = async (ending = {}) => {
    try {
      await client.sessions.deleteSelf(ending);
    } catch (error) {
      // It had ended: of itself, or by another DELETE.
      if (!isRefused(error)) throw error;
    }
  };
  return { id, key, client, container, expiresAt, end };
}

/**
 * Ends a session whose authorization failed. The key is refused until the session is authorized. So if the answer was
 * lost, a refused key may still become valid, and this tries again for a while.
 */
async function endUnconfirmed({ sessions }: Sluice, failure: unknown): Promise<void> {
  const wasAnswered = failure instanceof SluiceError && failure.status !== undefined && failure.status < 500;
  const deadline = performance.now() + endWithinMs;
  for (let leftMs = endWithinMs; leftMs > 0; leftMs = deadline - performance.now()) {
    try {
      return await sessions.deleteSelf({ timeoutMs: leftMs, retries: 0 });
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      if (wasAnswered && isRefused(error)) return;
    }
    await delay(pauseMs);
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof SluiceError && error.status === 401;
}
