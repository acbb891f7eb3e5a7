import type {
  DataKeyError,
  KeyVersionStatus,
  Reencrypted,
  RootKeyStatus,
  RootKeyUse,
  RootRotation,
  VersionsMade,
} from '@sluice/vault';
import { grouped } from './progress.ts';

export interface Result {
  text: string;
  json: object;
  exitCode: 0 | 1;
}

export function describeVersions({ resumed, versions, confirmation }: VersionsMade): string {
  const how = `Each process with a cache uses these versions (${confirmation.holders} processes, after ${confirmation.waitedMs} ms)`;
  if (versions.length === 0) return 'The Tenant has no data key of this purpose yet, so there is nothing to rotate';
  const names = versions.map(({ purpose, version }) => `${purpose} ${version}`).join(', ');
  if (!resumed) return `New versions: ${names}. ${how}`;
  const made = versions.map(({ purpose, version, createdAt }) => `${purpose} ${version} of ${createdAt}`).join(', ');
  return `Some rows are still encrypted with older versions of data keys. This command encrypts the rows with ${made}, and creates no newer version. ${how}`;
}

function describeReencrypted({ purpose, table, rows, left, damagedRows, damaged }: Reencrypted): string {
  const lines = [
    `${table} (${purpose}): ${grouped(rows)} rows encrypted with the newest version, ${grouped(left)} rows still use older versions`,
  ];
  if (damagedRows > 0) {
    const more = damagedRows > damaged.length ? ` and ${grouped(damagedRows - damaged.length)} more` : '';
    lines.push(`  These cannot be decrypted and were not changed: ${damaged.join(', ')}${more}`);
    lines.push('  Delete them, or repair them from a backup; until then each rotation ends with exit code 1');
  }
  if (left > damagedRows) lines.push('  They are locked by other changes. Run the same command again');
  return lines.join('\n');
}

export function dataResult(tenantId: string, made: VersionsMade | undefined, done: readonly Reencrypted[]): Result {
  const left = done.reduce((sum, one) => sum + one.left, 0);
  const isFinished = done.every((one) => one.left === one.damagedRows);
  const again = made?.resumed && isFinished ? ['To make new versions now, run the same command again.'] : [];
  return {
    text: [...done.map(describeReencrypted), ...again].join('\n'),
    json: {
      tenant_id: tenantId,
      resumed: made?.resumed ?? false,
      versions: Object.fromEntries((made?.versions ?? []).map(({ purpose, version }) => [purpose, version])),
      rotated: done,
    },
    exitCode: left === 0 ? 0 : 1,
  };
}

/** The rows under the key may be intact, so the text does not advise to delete them. */
export function describeUnopened({ owner, version, rootKeyId, cause }: DataKeyError): string {
  const key = `Data key ${owner.purpose} ${version}`;
  const restore = 'restore the row of this data key in data_keys from a backup';
  const advice =
    rootKeyId === undefined
      ? [`${key} does not exist`, `To go on, ${restore}`]
      : [
          `${key} does not unwrap${cause instanceof Error ? `: ${cause.message}` : ''}`,
          `It was wrapped by ${rootKeyId}. ${settingsOf(rootKeyId)}`,
          `If the settings already give access to this root key, ${restore}`,
        ];
  const [first, ...others] = [...advice, 'Keep the rows that this key encrypts: they may be undamaged'];
  return [first, ...others.map((line) => `  ${line}`)].join('\n');
}

function settingsOf(rootKeyId: string): string {
  return rootKeyId.startsWith('local:')
    ? 'Give it in ROOT_KEY_PREVIOUS and run the same command again'
    : 'Check VAULT_ADDR, VAULT_TRANSIT_MOUNT, VAULT_TRANSIT_KEY, what VAULT_TOKEN may do, and min_decryption_version of the key';
}

export function rootResult({ currentKeyId, rewrapped, left, damaged }: RootRotation): Result {
  const count = left.reduce((sum, { data_keys }) => sum + data_keys, 0);
  const lines = [
    `${grouped(rewrapped)} data keys wrapped with ${currentKeyId}, ${grouped(count)} still wrapped with another root key`,
    ...left.map(describeUse),
    ...(damaged.length > 0
      ? [`The root keys in the settings cannot unwrap these data keys: ${damaged.join(', ')}`]
      : []),
  ];
  const json = { root_key_id: currentKeyId, rewrapped, left, damaged };
  return { text: lines.join('\n'), json, exitCode: count === 0 ? 0 : 1 };
}

export function rootStatus({ currentKeyId, rootKeys, underOthers }: RootKeyStatus): Result {
  const lines = [
    `Current root key  ${currentKeyId}`,
    ...rootKeys.map(describeUse),
    `${grouped(underOthers)} data keys are not under the current root key`,
  ];
  const json = { root_key_id: currentKeyId, root_keys: rootKeys, under_others: underOthers };
  return { text: lines.join('\n'), json, exitCode: 0 };
}

function describeUse({ root_key_id, data_keys, tenants }: RootKeyUse): string {
  return `  ${root_key_id}  ${grouped(data_keys)} data keys of ${grouped(tenants)} Tenants`;
}

const columns = ['purpose', 'version', 'made', 'uses', 'ciphertexts', 'root key'];

export function tenantStatus(tenantId: string, versions: readonly KeyVersionStatus[]): Result {
  const rows = versions.map((key) => [
    key.purpose,
    String(key.version),
    key.created_at,
    grouped(key.use_count),
    key.ciphertexts === null ? '-' : grouped(key.ciphertexts),
    key.root_key_id,
  ]);
  const json = { tenant_id: tenantId, data_keys: versions };
  return { text: table([columns, ...rows]), json, exitCode: 0 };
}

function table(rows: readonly string[][]): string {
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
