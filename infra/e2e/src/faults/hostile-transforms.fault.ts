import { hostileModule, hostilePrograms } from '@sluice/sandbox/hostile';
import { type HttpAnswer, startCountingDestination } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { transforms } from '../coherence/client.ts';
import { addTo, describeCounts } from '../under-load/count.ts';
import { inWords, memoryOf, watchFigure } from '../under-load/process-state.ts';
import { describeAnswer, openRequests, openSecondTenant, type Requests } from '../under-load/requests.ts';
import { type Disturbance, underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

const programs = [
  'endless loop',
  'endless loop that catches',
  'promise chain',
  'promise that never settles',
  'catastrophic regex',
  'flood of arrays',
  'flood of text',
  'flood of buffers',
  'deep recursion',
  'sparse array to text',
] as const;

const queueLimit = 20;
const cpuMs = 100;
const wallMs = 3000;
const hostileMs = 10_000;
const hostileClients = 10;
const goodClients = 4;
/** Sent at once: what runs and what waits is far less. */
const burst = 150;
const memoryMargin = 300;
const settleMs = 4000;

export const hostileTransforms = underLoad(
  'hostile-transforms',
  'Proxies of a Tenant run hostile code and fill the queue: each call is answered with an error, the traffic of others goes on',
  {
    mostFailed: 0,
    environment: {
      TRANSFORM_QUEUE_LIMIT: String(queueLimit),
      TRANSFORM_CPU_MS: String(cpuMs),
      TRANSFORM_WALL_MS: String(wallMs),
      TRANSFORM_BREAKER_KILLS: '0', // else they would be suspended, and no thread would die
    },
    disturb,
  },
);

interface Scene {
  world: World;
  gateways: readonly Node[];
  hostile: Requests;
  /** Keys of Proxies with hostile code. */
  keys: readonly string[];
}

async function disturb(world: World): Promise<Disturbance> {
  await using stack = new AsyncDisposableStack();
  const destination = await startCountingDestination(({ method }) => method, stack);
  const gateways = world.of('proxy-gateway');
  const hostile = openRequests(await openSecondTenant(world, stack), stack);
  const keys: string[] = [];
  for (const name of programs) {
    const code = hostileModule(hostilePrograms[name] ?? '');
    keys.push((await hostile.createProxy({ destination_url: destination.url, request_transform: { code } })).key);
  }
  const scene: Scene = { world, gateways, hostile, keys };
  const pids = world.nodes.map(({ pid }) => pid);
  const memories = gateways.map((gateway) => watchFigure(() => memoryOf(gateway)));
  await world.pause(500);

  let isOver = false;
  const good = new Map<string, number>();
  const passing = sendGood(scene, { url: destination.url, stack, seen: good, isOver: () => isOver });
  try {
    const answers = await sendHostile(scene);
    const flood = await sendBurst(scene);
    isOver = true;
    await passing;
    await world.pause(settleMs);
    const memory = await Promise.all(memories.map((watching) => watching.stop()));
    const kills = await Promise.all(gateways.map(countKills));
    const total = [...good.values()].reduce((sum, count) => sum + count, 0);
    const failed = total - (good.get('200') ?? 0);
    const reached = destination.seen.get('undefined') ?? 0;
    const ended = world.nodes.filter(({ pid }, at) => pid !== pids[at]);
    const all = [...answers.wrong, ...flood.wrong];
    return {
      figures: [
        ['hostile calls', describeCounts(answers.counts)],
        [`${burst} of them at once`, describeCounts(flood.counts)],
        ['transforms killed', kills.join(', ')],
        ['good invocations with transforms', describeCounts(good)],
        ['memory before / peak / after', memory.map((one) => inWords(one, ' MiB')).join(', ')],
      ],
      failures: [
        ...all.slice(0, 3).map((answer) => `${all.length} hostile calls were answered such as ${answer}`),
        ...(flood.counts.get('503') ? [] : ['the queue took everything at once']),
        ...(total === 0 || failed / total >= 0.001 ? [`${failed} of ${total} good invocations failed`] : []),
        ...(reached > 0 ? [`${reached} hostile calls reached the destination`] : []),
        ...(kills.every((count) => count > 0) ? [] : ['no transform was killed: the test has shown nothing']),
        ...ended.map(({ name }) => `${name} has ended`),
        ...memory
          .filter(({ before, after }) => after > before + memoryMargin)
          .map((one) => `memory of a gateway went ${inWords(one, ' MiB')}`),
      ],
    };
  } finally {
    isOver = true;
  }
}

interface Answers {
  counts: ReadonlyMap<string, number>;
  /** Those that are no error of the Proxy, or do not say when to try again. */
  wrong: string[];
}

async function sendHostile({ world, gateways, hostile, keys }: Scene): Promise<Answers> {
  const answers: HttpAnswer[] = [];
  const until = performance.now() + hostileMs;
  await Promise.all(
    Array.from({ length: hostileClients }, async (_, number) => {
      for (let turn = number; performance.now() < until; turn++) {
        const gateway = gateways[turn % gateways.length];
        const proxyKey = keys[Math.floor(turn / gateways.length) % keys.length] ?? '';
        answers.push(await hostile.invoke(gateway, { proxyKey, body: {}, timeoutMs: 20_000 }));
        await world.pause(10);
      }
    }),
  );
  return judge(answers);
}

async function sendBurst({ gateways, hostile, keys }: Scene): Promise<Answers> {
  const answers = Array.from({ length: burst }, (_, number) =>
    hostile.invoke(gateways[0], { proxyKey: keys[number % 2] ?? '', body: {}, timeoutMs: 20_000 }),
  );
  return judge(await Promise.all(answers));
}

function judge(answers: readonly HttpAnswer[]): Answers {
  const counts = new Map<string, number>();
  const wrong: string[] = [];
  for (const answer of answers) {
    addTo(counts, answer.detail);
    if (answer.status < 400 || !answer.body.startsWith('{"proxy_error":')) {
      wrong.push(describeAnswer(answer));
    } else if (answer.status === 503 && !/^\d+$/.test(answer.headers['retry-after'] ?? '')) {
      wrong.push('503 without Retry-After');
    }
  }
  return { counts, wrong };
}

interface GoodTraffic {
  url: string;
  stack: AsyncDisposableStack;
  seen: Map<string, number>;
  isOver: () => boolean;
}

/** Each invocation has transforms, and must give back what was sent. */
async function sendGood({ world, gateways }: Scene, { url, stack, seen, isOver }: GoodTraffic): Promise<void> {
  const requests = openRequests(world, stack);
  const proxy = await requests.createProxy({ destination_url: url, ...transforms });
  await Promise.all(
    Array.from({ length: goodClients }, async (_, number) => {
      for (let turn = number; !isOver(); turn++) {
        const body = { number, turn };
        const gateway = gateways[turn % gateways.length];
        const answer = await requests.invoke(gateway, { proxyKey: proxy.key, body, headers: { 'x-case': 'good' } });
        addTo(seen, answer.status === 200 && answer.body !== JSON.stringify(body) ? 'wrong' : answer.detail);
        await world.pause(20);
      }
    }),
  );
}

async function countKills({ adminUrl }: Node): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const counts = [...metrics.matchAll(/^sluice_transform_stops_total(?:\{[^}]*\})? (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
