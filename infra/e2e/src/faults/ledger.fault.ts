import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { killStore } from '../cluster/stores.ts';
import { runProgram } from '../run-program.ts';
import { lockAuditLog } from '../under-load/audit-log.ts';
import { startRepeating } from '../under-load/clients.ts';
import { elapsedMs } from '../under-load/count.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

const workerKills = 6;
const verifier = 'services/management-api/src/logs/ledger.command.ts';
/** Two seconds are promised; the rest is for what was killed to be found gone, and for a busy machine. */
const caughtUpWithinMs = 120_000;

export const ledgerFaults = underLoad(
  'ledger',
  'workers, Postgres and a gateway with rows in its spool are killed: each row is in the tree once, and no checkpoint that anybody was handed is contradicted',
  {
    processes: { worker: 2 },
    async disturb(world) {
      const notes: string[] = [];
      const auditor = keepCheckpoints(world, notes);
      try {
        await killAll(world);
      } finally {
        await auditor.stop();
      }
      world.judges.push(() => judgeTree(world, notes));
    },
  },
);

/** As an auditor does who asks every moment; answers that are none are no checkpoints. */
const keepCheckpoints = ({ tryManage, pause }: World, notes: string[]) =>
  startRepeating(1, async () => {
    const answer = await tryManage('GET', '/logs/checkpoint');
    if (answer.status === 200 && answer.body !== notes.at(-1)) notes.push(answer.body);
    await pause(100);
  });

async function killAll(world: World): Promise<void> {
  const { pause, node, stores } = world;
  const workers = [node('worker-1'), node('worker-2')];
  for (let turn = 0; turn < workerKills; turn++) {
    const worker = workers[turn % 2];
    await worker?.kill();
    await pause(150 * turn); // the other one goes on, somewhere else in its round each time
    await worker?.restart();
  }
  {
    await using locked = new AsyncDisposableStack();
    await lockAuditLog(world, locked);
    await pause(1000);
    await node('gateway-1').kill(); // with rows that only its spool has, and which come when others are in the tree
  }
  await pause(1500);
  await node('gateway-1').restart();
  await killStore(world, 'postgres');
  await pause(2000);
  await stores.restart('postgres');
  world.report.figure('killed', `workers ${workerKills} times, a gateway with rows in its spool, and Postgres`);
}

async function judgeTree(world: World, notes: readonly string[]): Promise<void> {
  const { query, report, tryManage, until } = world;
  const isCaughtUp = async () => (await query('select from audit_log_arrivals limit 1')).length === 0;
  const caughtUpMs = await elapsedMs(() => until(isCaughtUp, caughtUpWithinMs));
  const [row] = await query<{ log: string; leaves: string; once: string }>(`
    select count(*) as log, count(leaf.log_id) as leaves, count(distinct (leaf.tenant_id, leaf.log_id)) as once
    from audit_log as log left join ledger_leaves as leaf on leaf.tenant_id = log.tenant_id and leaf.log_id = log.id`);
  const { log, leaves, once } = row ?? { log: '', leaves: '-', once: '' };
  report.figure('rows, in the tree, each once', `${log}, ${leaves}, ${once}`);
  report.failIf(log !== leaves || leaves !== once, `of ${log} rows ${leaves} are in the tree, ${once} of them once`);
  report.figure('checkpoints that were handed out meanwhile', notes.length);
  report.failIf(notes.length < 10, 'hardly a checkpoint was handed out: the test has shown nothing');
  report.figure('nothing waited any more', `${caughtUpMs.toFixed(0)} ms after the load`);
  const exported = (await tryManage('GET', '/logs/export')).body;
  const verdict = await verify(world, exported, notes);
  report.figure('the verifier says', verdict.text);
  report.failIf(!verdict.isGood, `the verifier says: ${verdict.text}`);
  const forged = await verify(world, exported.replace('"operation":"use"', '"operation":"read"'), notes);
  report.figure('the control, of a row that is changed', forged.text);
  report.failIf(forged.isGood, 'the verifier takes a row that was changed');
}

/** What was exported against all that was handed out, by the command that auditors run. */
async function verify(
  { directory, credentials, inTurn, tryManage }: World,
  exported: string,
  notes: readonly string[],
) {
  const file = async (name: string, content: string) => {
    const path = join(directory, name);
    await writeFile(path, content);
    return path;
  };
  const { tenant_id } = credentials;
  const checkpoint = (await tryManage('GET', '/logs/checkpoint')).body;
  const key = await (
    await fetch(`${inTurn('management-api', 0).url}/.well-known/sluice-ledger-key/${tenant_id}`)
  ).text();
  const args = [
    ...['verify', await file('export.ndjson', exported), '--checkpoint', await file('checkpoint', checkpoint)],
    ...['--key', await file('key', key), '--witness', await file('witness', notes.map((note) => `${note}\n`).join(''))],
  ];
  return runProgram(verifier, args).then(
    ({ stdout }) => ({ isGood: true, text: stdout.trim() }),
    ({ stdout, stderr }) => ({ isGood: false, text: (stdout || stderr).trim() }),
  );
}
