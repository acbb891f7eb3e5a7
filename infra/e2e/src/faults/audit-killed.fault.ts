import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Node } from '../cluster/node.ts';
import { findRepeated, lockAuditLog } from '../under-load/audit-log.ts';
import { type Disturbance, underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

const kills = 3;
const lockedMs = 1500;

export const auditKilled = underLoad(
  'audit-killed',
  'gateways and token vaults are killed while rows of the audit log wait: every disclosure has its row, and none has two',
  { disturb: async (world) => ({ ...(await killThoseWithRows(world)), after: () => judgeRows(world) }) },
);

/** Each is killed while nothing can be stored, so that it surely has rows that only it knows of. */
async function killThoseWithRows(world: World): Promise<Disturbance> {
  const { pause, of } = world;
  const random = world.random(7000);
  const both = [of('proxy-gateway'), of('token-vault')];
  let leftBytes = 0;
  const untold: string[] = [];
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
    if (torn && !(await isTold(node))) untold.push(node.name);
    await pause(300);
  }
  return {
    figures: [['killed, left in their spools', `${kills}, ${(leftBytes / 1024).toFixed(1)} KiB`]],
    failures: [
      ...(leftBytes === 0 ? ['nothing waited when they were killed: the test has shown nothing'] : []),
      ...untold.map((name) => `${name} says nothing of the line that was torn`),
    ],
  };
}

async function spooledBy({ settings }: World, { name, service }: Node): Promise<{ path: string; bytes: number }[]> {
  const directory = join(settings.spoolDirectory, name, service);
  const paths = (await readdir(directory)).map((file) => join(directory, file));
  return Promise.all(paths.map(async (path) => ({ path, bytes: (await stat(path)).size })));
}

/** Logs are written twice a second. */
const toldWithinMs = 3000;

async function isTold({ logFile }: Node): Promise<boolean> {
  const until = performance.now() + toldWithinMs;
  for (;;) {
    if ((await readFile(logFile, 'utf8')).includes('written in part')) return true;
    if (performance.now() > until) return false;
    await wait(50);
  }
}

/** Nothing is twice there, and nothing waits any more. */
async function judgeRows(world: World): Promise<Disturbance> {
  const repeated = await findRepeated(world);
  await world.pause(500);
  const nodes = [...world.of('proxy-gateway'), ...world.of('token-vault')];
  const left = (await Promise.all(nodes.map((node) => spooledBy(world, node)))).flat();
  const waiting = left.filter(({ bytes }) => bytes > 0);
  return {
    figures: [
      ['disclosures with several rows, spool files that are not empty', `${repeated.length}, ${waiting.length}`],
    ],
    failures: [
      ...repeated.slice(0, 3).map((id) => `${repeated.length} disclosures have several rows, such as ${id}`),
      ...waiting.map(({ path, bytes }) => `${path} still holds ${bytes} bytes`),
    ],
  };
}
