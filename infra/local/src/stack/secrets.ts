import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readOrCreate } from '../private-file.ts';

/**
 * Must stay the same as long as the data, because without them keys are not recognized and tokens cannot be decrypted.
 */
export interface Secrets {
  KEY_PEPPER: string;
  ROOT_KEY: string;
}

/** Created at the folder's first use; only the owner may read the file. */
export async function readSecrets(directory: string): Promise<Secrets> {
  const secret = () => randomBytes(32).toString('base64');
  const create = () => `${JSON.stringify({ KEY_PEPPER: secret(), ROOT_KEY: secret() }, null, 2)}\n`;
  return JSON.parse(await readOrCreate(join(directory, 'secrets.json'), create));
}

export interface LedgerKey {
  /** Path of the private key, which signs checkpoints of the audit log. Only the worker receives it. */
  file: string;
  /** 32 bytes in base64. */
  publicKey: string;
}

/** Created at the folder's first use; only the owner may read the file. */
export async function readLedgerKey(directory: string): Promise<LedgerKey> {
  const file = join(directory, 'ledger-key.pem');
  const pem = await readOrCreate(file, () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  );
  const { x = '' } = createPublicKey(pem).export({ format: 'jwk' });
  return { file, publicKey: Buffer.from(x, 'base64url').toString('base64') };
}
