import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent, readOrCreate, replaceFile } from './private-file.ts';

const random = (encoding: 'base64' | 'base64url') => () => randomBytes(32).toString(encoding);

const ledgerKey = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Postgres, Valkey and Grafana read their secrets as users of their own. No other container mounts these volumes. */
const readableByAll = 0o644;

/**
 * Writes the secrets of an installation, one folder for each group of readers. Existing secrets are kept, because with
 * another root key or pepper no token can be opened and no API key is recognized.
 */
export async function writeSecrets(directory: string): Promise<void> {
  const folder = (name: string) => join(directory, name);
  const [postgres, valkey, grafana] = [folder('postgres'), folder('valkey'), folder('grafana')];
  const [stores, keys, ledger, ledgerPublic] = [
    folder('stores'),
    folder('keys'),
    folder('ledger'),
    folder('ledger-public'),
  ];
  for (const path of [postgres, valkey, grafana, stores, keys, ledger, ledgerPublic])
    await mkdir(path, { recursive: true });

  await readOrCreate(join(keys, 'root-key'), random('base64'));
  await readOrCreate(join(keys, 'key-pepper'), random('base64'));
  await notePublicKey(join(ledgerPublic, 'public-keys'), await readOrCreate(join(ledger, 'ledger-key'), ledgerKey));
  const databasePassword = await readOrCreate(join(postgres, 'password'), random('base64url'), readableByAll);
  const redisPassword = await readOrCreate(join(valkey, 'password'), random('base64url'), readableByAll);
  await readOrCreate(join(grafana, 'password'), random('base64url'), readableByAll);

  await replaceFile(join(valkey, 'valkey.conf'), `requirepass ${redisPassword}\n`, readableByAll);
  await replaceFile(join(stores, 'database-url'), `postgres://sluice:${databasePassword}@postgres:5432/sluice`);
  await replaceFile(join(stores, 'redis-url'), `redis://:${redisPassword}@valkey:6379`);
}

/**
 * Adds the public key to the list, the current one first. Earlier ones stay, so that old checkpoints can be verified.
 */
async function notePublicKey(path: string, privateKey: string): Promise<void> {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  const current = Buffer.from(x, 'base64url').toString('base64');
  const before = ((await readIfPresent(path)) ?? '').split('\n').filter((key) => key !== '' && key !== current);
  await replaceFile(path, `${[current, ...before].join('\n')}\n`, readableByAll);
}
