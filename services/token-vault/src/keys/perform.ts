import {
  type Rotation,
  readRootKeyStatus,
  readTenantKeyStatus,
  rotateDataKeys,
  rotateRootKey,
  type VersionsMade,
} from '@sluice/vault';
import type { KeysCommand } from './keys.arguments.ts';
import type { Keys } from './open-keys.ts';
import type { Progress } from './progress.ts';
import { dataResult, describeVersions, type Result, rootResult, rootStatus, tenantStatus } from './results.ts';

export interface Performance {
  keys: Keys;
  signal: AbortSignal;
  progress: Progress;
  say: (line: string) => void;
}

export async function perform(command: KeysCommand, { keys, signal, progress, say }: Performance): Promise<Result> {
  let made: VersionsMade | undefined;
  const report: Rotation['report'] = (event) => {
    if (event.type === 'progress') return progress.update(event.what, event);
    progress.clear();
    if (event.type === 'versions') {
      made = event;
      return say(describeVersions(event));
    }
    say(`${event.what}: waiting ${Math.ceil(event.ms / 1000)} s for requests that began before the rotation`);
  };
  const rotation: Rotation = { ...keys, signal, report };
  if (command.name === 'rotate-root') return rootResult(await rotateRootKey(rotation));
  if (command.name === 'rotate-data') {
    const { tenantId, purposes } = command;
    const done = await rotateDataKeys(rotation, { tenantId, purposes });
    return dataResult(tenantId, made, done);
  }
  const { tenantId } = command;
  if (tenantId !== undefined) return tenantStatus(tenantId, await readTenantKeyStatus(keys.countingDb, tenantId));
  return rootStatus(await readRootKeyStatus(keys.countingDb, keys.keyWrapper));
}
