import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { eventually } from '@sluice/testing';

/** Where version 1 keeps the groups of memory, and where version 2 keeps all (cgroups(7)). */
const roots = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
];

/**
 * Creates a group of processes with a memory limit, as a container has one, and deletes it with the stack. @returns the
 * beginning of a command line that runs the rest in the group; undefined if this machine lets nobody create one.
 */
export async function openMemoryGroup(stack: AsyncDisposableStack, limitBytes: number): Promise<string[] | undefined> {
  for (const { root, limit } of roots) {
    const group = join(root, `sluice-${randomUUID()}`);
    const isOpen = await create(join(group, limit), limitBytes).then(
      () => true,
      () => false, // no such version, or no right to it
    );
    if (!isOpen) {
      await rm(group, { recursive: true, force: true }).catch(() => undefined);
      continue;
    }
    // It is busy until the kernel has cleared away its last process.
    stack.defer(() => eventually('the group is deleted', () => rmdir(group).then(() => true)));
    return ['sh', '-c', 'echo $$ > "$0" && exec "$@"', join(group, 'cgroup.procs')];
  }
  return undefined;
}

async function create(limitFile: string, limitBytes: number): Promise<void> {
  await mkdir(dirname(limitFile));
  if (!existsSync(limitFile)) throw new Error('This hierarchy does not limit memory');
  await writeFile(limitFile, String(limitBytes));
}
