import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Node } from '../cluster/node.ts';
import { failForRepeated, lockAuditLog } from '../under-load/audit-log.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

const kills = 3;
const lockedMs = 1500;
/** Logs are written twice a second. */
const toldWithinMs = 3000;

export const auditKilled = underLoad(
  'audit-killed',
  'gateways and token vaults are killed while rows of the audit log wait: every disclosure has its row, and none has two',
  { disturb },
);

/** Each is killed while nothing can be stored, so that it surely has rows that only it knows of. */
async function disturb(world: World): Promise<void> {
  const { pause, until, of, report } = world;
  const random = world.random(7000);
  const both = [of('proxy-gateway'), of('token-vault')];
  let leftBytes = 0;
  for (let turn = 0; turn < kills; turn++) {
    const node = random.pick(both[turn % both.length] ?? []);
    {
      await using locked = new AsyncDisposableStack();
      await lockAuditLog(world, locked);
      await pause(random.between(lockedMs / 2, lockedMs));
      await node.kill();
    }
    const files = await spooledBy(world, node);
    leftBytes += files.reduce((sum, { bytes }) => sum + bytes, 0);
    const [torn] = files;
    // As if it had died in the middle of a line
    if (torn) await appendFile(torn.path, '\n{"id":"0190');
    await node.restart();
    const tellsOfTornLine = async () => (await readFile(node.logFile, 'utf8')).includes('written in part');
    const isTold = !torn || (await until(tellsOfTornLine, toldWithinMs));
    report.failIf(!isTold, `${node.name} says nothing of the line that was torn`);
    await pause(300);
  }
  report.figure('killed, left in their spools', `${kills}, ${(leftBytes / 1024).toFixed(1)} KiB`);
  report.failIf(leftBytes === 0, 'nothing waited when they were killed: the test has shown nothing');
  world.judges.push(() => judgeRows(world));
}

async function spooledBy({ settings }: World, { name, service }: Node): Promise<{ path: string; bytes: number }[]> {
  const directory = join(settings.spoolDirectory, name, service);
  const paths = (await readdir(directory)).map((file) => join(directory, file));
  return Promise.all(paths.map(async (path) => ({ path, bytes: (await stat(path)).size })));
}

async function judgeRows(world: World): Promise<void> {
  await failForRepeated(world);
  await world.pause(500);
  const nodes = world.of('proxy-gateway', 'token-vault');
  const left = (await Promise.all(nodes.map((node) => spooledBy(world, node)))).flat();
  const waiting = left.filter(({ bytes }) => bytes > 0);
  world.report.none(
    'spool files that are not empty',
    waiting,
    ({ path, bytes }) => `${path} still holds ${bytes} bytes`,
  );
}
