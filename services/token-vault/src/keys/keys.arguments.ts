import { canonicalUuid } from '@sluice/http-api/canonical-uuid';
import { type Help, readOptions, UsageError } from '@sluice/service-runtime/command-line';
import { type RotatedPurpose, rotatedPurposes } from '@sluice/vault/rotated-purposes';

export const help = `Usage: npm run keys -- rotate-root [--json]
       npm run keys -- rotate-data --tenant <id> [--purpose token_data|proxy_secrets|idempotency] [--json]
       npm run keys -- status [--tenant <id>] [--json]

rotate-root   wraps all data keys with the current root key. First give every process the new root key in ROOT_KEY and
              the previous one in ROOT_KEY_PREVIOUS; with vault-transit, create a new version of the transit key. When
              the command has ended with exit code 0, the previous root key is no longer needed.
rotate-data   creates a new version of a Tenant's data keys. Then it decrypts all data that older versions have
              encrypted, and encrypts the data with the new version. Without --purpose it does so for each purpose.
              Keys of fingerprints and search indexes cannot be rotated.
status        shows how many data keys each root key has wrapped. With --tenant it shows the versions of that Tenant's
              data keys, and how many ciphertexts each has encrypted.

  --tenant    id of a Tenant
  --purpose   only data keys of this purpose
  --json      prints one line of JSON

Both rotations run while the services are in use. At the end the command counts what still uses older keys. Exit codes: 0
if nothing does, 1 if something does, 2 for wrong arguments, 78 for missing or wrong settings, 130 after Ctrl-C, which
ends the rotation after its current batch. The same command continues an interrupted rotation, also after a crash.

DATABASE_URL, REDIS_URL and the root key (KEY_PROVIDER, ROOT_KEY, ROOT_KEY_PREVIOUS, VAULT_*) are read from the
environment as services read them. For a stack that "npm start" runs they are taken from .sluice/environment.`;

export type KeysCommand =
  | { name: 'rotate-root'; json: boolean }
  | { name: 'rotate-data'; tenantId: string; purposes: readonly RotatedPurpose[]; json: boolean }
  | { name: 'status'; tenantId: string | undefined; json: boolean };

export function readArguments(args: string[]): KeysCommand | Help {
  const { values, positionals } = parse(args);
  if (values.help) return { name: 'help' };
  const { tenant, purpose, json = false } = values;
  const [name, ...others] = positionals;
  if (others.length > 0) throw new UsageError(`"${others[0]}" is an unexpected argument`);
  const tenantId = tenant === undefined ? undefined : canonicalUuid(tenant);
  if (tenant !== undefined && tenantId === undefined) throw new UsageError('--tenant must be a UUID');
  if (purpose !== undefined && name !== 'rotate-data') throw new UsageError('--purpose is for rotate-data');
  if (name === 'status') return { name, tenantId, json };
  if (name === 'rotate-root') {
    if (tenantId !== undefined) throw new UsageError('rotate-root takes no --tenant: a root key is for all Tenants');
    return { name, json };
  }
  if (name === 'rotate-data') {
    if (tenantId === undefined) throw new UsageError('--tenant is required');
    return { name, tenantId, purposes: purpose === undefined ? rotatedPurposes : [readPurpose(purpose)], json };
  }
  throw new UsageError(name === undefined ? 'a command is missing' : `there is no command "${name}"`);
}

function parse(args: string[]) {
  return readOptions({
    args,
    allowPositionals: true,
    options: {
      tenant: { type: 'string' },
      purpose: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
}

function readPurpose(purpose: string): RotatedPurpose {
  const found = rotatedPurposes.find((one) => one === purpose);
  if (found) return found;
  if (purpose === 'fingerprint' || purpose === 'blind_index') {
    throw new UsageError(
      `${purpose} keys can have only one version. With a second version the fingerprints of equal values would differ, so deduplication and searches would find no existing token`,
    );
  }
  throw new UsageError(`--purpose must be one of ${rotatedPurposes.join(', ')}`);
}
