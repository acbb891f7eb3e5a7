import { randomUUID } from 'node:crypto';
import type { HttpAnswer } from '@sluice/testing';
import { countRowsSoon, failForRepeated, lockAuditLog, refuseRows } from '../under-load/audit-log.ts';
import { startRepeating } from '../under-load/clients.ts';
import { countKinds, elapsedMs } from '../under-load/count.ts';
import { watchGateways } from '../under-load/process-state.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

/** Small, so that a slow machine fills it. The one Tenant may have half, ten times what waits while all is well. */
const queueLimit = 50;
const lockedMs = 6000;
const refusedMs = 4000;
const clients = 6;
/** How much more memory a gateway may need meanwhile, in MiB; the queue itself is less than one. */
const mostMemory = 200;

/** Rows of changes are written in the change's own transaction, which would fail with them. */
const ofDisclosures = `new.operation in ('use', 'read')`;

export const auditUnstored = underLoad(
  'audit-unstored',
  'rows of the audit log cannot be stored: disclosing stops when the queue is full, all else goes on, and every row is stored once',
  { environment: { DISCLOSURE_QUEUE_LIMIT: String(queueLimit) }, disturb },
);

async function disturb(world: World): Promise<void> {
  const { client, pause, report } = world;
  const tokenId = await world.createToken('a value');
  const invoke = (traceId: string, body: object, turn: number) =>
    world.invoke(world.inTurn('proxy-gateway', turn), { proxyKey: client.proxyKey, body, traceId });
  const disclose: Disclose = (traceId, turn) => invoke(traceId, { account: `{{ ${tokenId} }}` }, turn);

  const disclosed: string[] = [];
  const refusals: HttpAnswer[] = [];
  const plain: string[] = [];
  /** Each round one that discloses, and one that does not. */
  const press = async (turn: number) => {
    const traceId = `unstored-${randomUUID()}`;
    const answer = await disclose(traceId, turn);
    if (answer.status === 200) disclosed.push(traceId);
    if (answer.status === 503) refusals.push(answer);
    plain.push((await invoke(`plain-${randomUUID()}`, { account: 'none' }, turn)).detail);
  };
  const watching = await watchGateways(world, { peak: mostMemory });
  await using stack = new AsyncDisposableStack();
  const pressing = stack.adopt(startRepeating(clients, press), (started) => started.stop());
  {
    await using locked = new AsyncDisposableStack();
    await lockAuditLog(world, locked);
    await pause(lockedMs / 2);
    // What waits for the lock is stored after all, and nobody hears of it: it is sent again.
    for (const node of world.of('proxy-gateway')) node.postgres.cut();
    await pause(lockedMs / 2);
  }
  const whileLocked = refusals.length;
  const resumedMs = await untilDisclosed(world, disclose);
  {
    await using refused = new AsyncDisposableStack();
    await refuseRows(world, ofDisclosures, refused);
    await pause(refusedMs);
  }
  const resumedAgainMs = await untilDisclosed(world, disclose);
  await pressing.stop();

  report.figure('disclosed, refused while locked / in all', `${disclosed.length}, ${whileLocked} / ${refusals.length}`);
  report.failIf(whileLocked === 0, 'disclosing went on though nothing could be stored');
  report.failIf(refusals.length === whileLocked, 'disclosing went on though every row was refused');
  const unexplained = refusals.filter(({ headers }) => !/^\d+$/.test(headers['retry-after'] ?? ''));
  report.failIf(unexplained.length > 0, `${unexplained.length} refusals do not say when to try again`);
  report.figure('invocations that disclose nothing', countKinds(plain));
  const failed = new Set(plain.filter((status) => status !== '200'));
  report.failForEach([...failed], (status) => `what discloses nothing was answered ${status}`);
  report.figure('disclosed again after lock / trigger', `${resumedMs.toFixed(0)} / ${resumedAgainMs.toFixed(0)} ms`);
  await poisonOne(world, disclose);
  await watching.judge();
  const rows = await countRowsSoon(world, disclosed);
  const wrong = disclosed.filter((id) => rows.get(id) !== 1);
  report.none('rows not there once', wrong, (id) => `disclosure ${id} has ${rows.get(id) ?? 0} rows`);
  world.judges.push(() => failForRepeated(world));
}

type Disclose = (traceId: string, turn: number) => Promise<HttpAnswer>;

/** One row is refused, for all others to be stored; and it, too, once it is accepted. */
async function poisonOne(world: World, disclose: Disclose): Promise<void> {
  const { report } = world;
  const poison = `poison-${randomUUID()}`;
  const others = Array.from({ length: 20 }, () => `beside-${randomUUID()}`);
  await using refused = new AsyncDisposableStack();
  await refuseRows(world, `new.trace_id = '${poison}'`, refused);
  // One gateway, so that they share its queue
  const statuses = await Promise.all([poison, ...others].map(async (id) => (await disclose(id, 0)).detail));
  report.failIf(!statuses.every((status) => status === '200'), `beside a refused row: ${statuses}`);
  const startedAt = performance.now();
  const stored = await countRowsSoon(world, others, 4000);
  const tookMs = performance.now() - startedAt;
  report.figure('beside a refused row: stored, after', `${stored.size} of ${others.length}, ${tookMs.toFixed(0)} ms`);
  report.failIf(stored.size < others.length, 'one refused row holds up others');
  await refused.disposeAsync();
  const late = (await countRowsSoon(world, [poison])).get(poison) ?? 0;
  report.failIf(late !== 1, `the refused row was there ${late} times in the end`);
}

/** How long it takes until each of the two gateways discloses: they try to store what waits at moments of their own. */
function untilDisclosed({ until }: World, disclose: Disclose): Promise<number> {
  const discloses = (turn: number) => async () => (await disclose(`again-${randomUUID()}`, turn)).status === 200;
  return elapsedMs(async () => {
    for (const turn of [0, 1]) await until(discloses(turn), 10_000);
  });
}
