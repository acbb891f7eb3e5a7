import { decryptSecret } from '@sluice/vault';
import type { Context } from '../context.ts';

export interface StoredConfiguration {
  place: Parameters<typeof decryptSecret>[1];
  ciphertext: Buffer | undefined;
  /** Drops the code's owner from the cache, because a repair directly in Postgres invalidates none. */
  drop(): void;
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
