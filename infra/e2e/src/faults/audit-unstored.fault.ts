import { randomUUID } from 'node:crypto';
import type { HttpAnswer } from '@sluice/testing';
import { countRowsSoon, findRepeated, lockAuditLog, refuseRows } from '../under-load/audit-log.ts';
import { addTo, describeCounts } from '../under-load/count.ts';
import { inWords, memoryOf, watchFigure } from '../under-load/process-state.ts';
import { openRequests } from '../under-load/requests.ts';
import { type Disturbance, type Found, underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

/** Small, so that a slow machine fills it; ten times what waits while all is well. */
const queueLimit = 25;
const lockedMs = 6000;
const refusedMs = 4000;
const clients = 6;
/** How much more memory a gateway may need meanwhile, in MiB; the queue itself is less than one. */
const mostMemory = 200;

export const auditUnstored = underLoad(
  'audit-unstored',
  'rows of the audit log cannot be stored: disclosing stops when the queue is full, all else goes on, and every row is stored once',
  {
    environment: { DISCLOSURE_QUEUE_LIMIT: String(queueLimit) },
    disturb: async (world) => ({ ...(await keepFromStoring(world)), after: () => judgeRows(world) }),
  },
);

/** Rows of changes are written in the change's own transaction, which would fail with them. */
const ofDisclosures = `new.operation in ('use', 'read')`;

async function keepFromStoring(world: World): Promise<Disturbance> {
  await using stack = new AsyncDisposableStack();
  const { client, pause } = world;
  const requests = openRequests(world, stack);
  const tokenId = await requests.createToken('a value');
  const invoke = (traceId: string, body: unknown, turn: number) => {
    const gateways = world.of('proxy-gateway');
    return requests.invoke(gateways[turn % gateways.length], { proxyKey: client.proxyKey, body, traceId });
  };
  const disclose = (traceId: string, turn: number) => invoke(traceId, { account: `{{ ${tokenId} }}` }, turn);

  const disclosed: string[] = [];
  const refusals: HttpAnswer[] = [];
  const plain = new Map<string, number>();
  let isOver = false;
  /** Each round one that discloses, and one that does not. */
  const press = async (number: number) => {
    for (let turn = number; !isOver; turn++) {
      const traceId = `unstored-${randomUUID()}`;
      const answer = await disclose(traceId, turn);
      if (answer.status === 200) disclosed.push(traceId);
      if (answer.status === 503) refusals.push(answer);
      addTo(plain, (await invoke(`plain-${randomUUID()}`, { account: 'none' }, turn)).detail);
    }
  };
  const [gateway] = world.of('proxy-gateway');
  if (!gateway) throw new Error('There is no gateway');
  const memory = watchFigure(() => memoryOf(gateway));
  const pressing = Promise.all(Array.from({ length: clients }, (_, number) => press(number)));
  try {
    {
      await using locked = new AsyncDisposableStack();
      await lockAuditLog(world, locked);
      await pause(lockedMs / 2);
      // What waits for the lock is stored after all, and nobody hears of it: it is sent again.
      for (const node of world.of('proxy-gateway')) node.postgres.cut();
      await pause(lockedMs / 2);
    }
    const whileLocked = refusals.length;
    const resumedMs = await untilDisclosed(disclose, pause);
    {
      await using refused = new AsyncDisposableStack();
      await refuseRows(world, ofDisclosures, refused);
      await pause(refusedMs);
    }
    const resumedAgainMs = await untilDisclosed(disclose, pause);
    isOver = true;
    await pressing;
    const poison = await poisonOne(world, disclose);
    const used = await memory.stop();
    const rows = await countRowsSoon(world, disclosed);
    const unexplained = refusals.filter(({ headers }) => !/^\d+$/.test(headers['retry-after'] ?? ''));
    const wrong = disclosed.filter((id) => rows.get(id) !== 1);
    return {
      figures: [
        ['disclosed, refused while locked / in all', `${disclosed.length}, ${whileLocked} / ${refusals.length}`],
        ['invocations that disclose nothing', describeCounts(plain)],
        ['disclosed again after lock / trigger', `${resumedMs.toFixed(0)} / ${resumedAgainMs.toFixed(0)} ms`],
        ['memory of a gateway before / peak / after', inWords(used, ' MiB')],
        ['rows not there once', String(wrong.length)],
        ...poison.figures,
      ],
      failures: [
        ...(whileLocked === 0 ? ['disclosing went on though nothing could be stored'] : []),
        ...(refusals.length === whileLocked ? ['disclosing went on though every row was refused'] : []),
        ...(unexplained.length > 0 ? [`${unexplained.length} refusals do not say when to try again`] : []),
        ...[...plain.keys()].filter((s) => s !== '200').map((s) => `what discloses nothing was answered ${s}`),
        ...wrong.slice(0, 3).map((id) => `disclosure ${id} has ${rows.get(id) ?? 0} rows`),
        ...(used.peak - used.before > mostMemory ? [`a gateway took ${inWords(used, ' MiB')}`] : []),
        ...poison.failures,
      ],
    };
  } finally {
    isOver = true;
  }
}

type Disclose = (traceId: string, turn: number) => Promise<HttpAnswer>;

/** One row is refused, for all others to be stored; and it, too, once it is accepted. */
async function poisonOne(world: World, disclose: Disclose): Promise<Found> {
  const poison = `poison-${randomUUID()}`;
  const others = Array.from({ length: 20 }, () => `beside-${randomUUID()}`);
  await using refused = new AsyncDisposableStack();
  await refuseRows(world, `new.trace_id = '${poison}'`, refused);
  // One gateway, so that they share its queue
  const statuses = await Promise.all([poison, ...others].map(async (id) => (await disclose(id, 0)).detail));
  const startedAt = performance.now();
  const stored = await countRowsSoon(world, others, 4000);
  const tookMs = performance.now() - startedAt;
  await refused.disposeAsync();
  const late = await countRowsSoon(world, [poison]);
  return {
    figures: [['beside a refused row: stored, after', `${stored.size} of ${others.length}, ${tookMs.toFixed(0)} ms`]],
    failures: [
      ...(statuses.every((status) => status === '200') ? [] : [`beside a refused row: ${statuses}`]),
      ...(stored.size < others.length ? ['one refused row holds up others'] : []),
      ...(late.get(poison) === 1 ? [] : [`the refused row was there ${late.get(poison) ?? 0} times in the end`]),
    ],
  };
}

/** How long it takes until each of the two gateways discloses: they try to store what waits at moments of their own. */
async function untilDisclosed(disclose: Disclose, pause: World['pause']): Promise<number> {
  const startedAt = performance.now();
  for (const turn of [0, 1]) {
    while (performance.now() - startedAt < 10_000) {
      if ((await disclose(`again-${randomUUID()}`, turn)).status === 200) break;
      await pause(20);
    }
  }
  return performance.now() - startedAt;
}

async function judgeRows(world: World): Promise<Disturbance> {
  const repeated = await findRepeated(world);
  return {
    figures: [['disclosures of the load with several rows', String(repeated.length)]],
    failures: repeated.slice(0, 3).map((id) => `${repeated.length} disclosures have several rows, such as ${id}`),
  };
}
