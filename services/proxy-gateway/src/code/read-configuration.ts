import { tagOf } from '@sluice/cache-coherence';
import { decryptSecret } from '@sluice/vault';
import type { Context } from '../context.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';

export interface StoredConfiguration {
  place: Parameters<typeof decryptSecret>[1];
  ciphertext: Buffer | undefined;
  /** Drops the code's owner from the cache, because a repair directly in Postgres invalidates none. */
  drop(): void;
}

/** That of a Proxy. */
export function configurationOf(
  { tenantId, id: recordId, configurationCiphertext: ciphertext }: ProxyDefinition,
  { proxies }: Pick<Context, 'proxies'>,
): StoredConfiguration {
  const place = { tenantId, purpose: 'proxy_secrets', recordId, field: 'configuration' } as const;
  return { place, ciphertext, drop: () => proxies.drop([tagOf.proxy(recordId)]) };
}

/** The JSON that code sees; `{}` if there is none. */
export async function readConfiguration(
  { place, ciphertext, drop }: StoredConfiguration,
  { vault }: Pick<Context, 'vault'>,
): Promise<string> {
  if (!ciphertext) return '{}';
  try {
    const json = (await decryptSecret(vault, place, ciphertext)).toString();
    JSON.parse(json);
    return json;
  } catch (error) {
    drop();
    throw error;
  }
}
