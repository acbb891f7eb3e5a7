import { hostileModule, hostilePrograms } from '@sluice/sandbox/hostile';
import { type HttpAnswer, startCountingDestination } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { transforms } from '../coherence/client.ts';
import { type Clients, startRepeating } from '../under-load/clients.ts';
import { addTo, countBy, describeCounts } from '../under-load/count.ts';
import { watchGateways } from '../under-load/process-state.ts';
import { describeAnswer, openRequests, openSecondTenant, type Requests } from '../under-load/requests.ts';
import { underLoad } from '../under-load/run.ts';
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
  hostile: Requests;
  /** Keys of Proxies with hostile code. */
  keys: readonly string[];
}

async function disturb(world: World): Promise<void> {
  const { report } = world;
  await using stack = new AsyncDisposableStack();
  const destination = await startCountingDestination(({ method }) => method, stack);
  const hostile = openRequests(await openSecondTenant(world));
  const keys: string[] = [];
  for (const name of programs) {
    const code = hostileModule(hostilePrograms[name] ?? '');
    keys.push((await hostile.createProxy({ destination_url: destination.url, request_transform: { code } })).key);
  }
  const pids = world.nodes.map(({ pid }) => pid);
  const watching = await watchGateways(world, { after: memoryMargin });
  await world.pause(500);

  const good = new Map<string, number>();
  const passing = await startGoodTraffic(world, destination.url, good);
  stack.defer(() => passing.stop());
  const scene: Scene = { world, hostile, keys };
  await sendHostile(scene);
  await sendBurst(scene);
  await passing.stop();
  await world.pause(settleMs);

  const total = [...good.values()].reduce((sum, count) => sum + count, 0);
  const failed = total - (good.get('200') ?? 0);
  report.figure('good invocations with transforms', describeCounts(good));
  report.failIf(total === 0 || failed / total >= 0.001, `${failed} of ${total} good invocations failed`);
  const reached = destination.seen.get('undefined') ?? 0;
  report.failIf(reached > 0, `${reached} hostile calls reached the destination`);
  const kills = await Promise.all(world.of('proxy-gateway').map(countKills));
  report.figure('transforms killed', kills.join(', '));
  report.failIf(!kills.every((count) => count > 0), 'no transform was killed: the test has shown nothing');
  const ended = world.nodes.filter(({ pid }, at) => pid !== pids[at]);
  report.failForEach(ended, ({ name }) => `${name} has ended`);
  await watching.judge();
}

async function sendHostile(scene: Scene): Promise<void> {
  const { world, hostile, keys } = scene;
  const answers: HttpAnswer[] = [];
  const sending = startRepeating(hostileClients, async (turn) => {
    const proxyKey = keys[(turn >> 1) % keys.length] ?? '';
    const gateway = world.inTurn('proxy-gateway', turn);
    answers.push(await hostile.invoke(gateway, { proxyKey, body: {}, timeoutMs: 20_000 }));
    await world.pause(10);
  });
  await Promise.race([world.pause(hostileMs), sending.broken]).finally(sending.stop);
  judgeAnswers(scene, 'hostile calls', answers);
}

async function sendBurst(scene: Scene): Promise<void> {
  const { world, hostile, keys } = scene;
  const answers = await Promise.all(
    Array.from({ length: burst }, (_, number) =>
      hostile.invoke(world.inTurn('proxy-gateway', 0), {
        proxyKey: keys[number % 2] ?? '',
        body: {},
        timeoutMs: 20_000,
      }),
    ),
  );
  judgeAnswers(scene, `${burst} of them at once`, answers);
  world.report.failIf(!answers.some(({ status }) => status === 503), 'the queue took everything at once');
}

/** Each must be an error of the Proxy, and say when to try again where that may help. */
function judgeAnswers({ world: { report } }: Scene, name: string, answers: readonly HttpAnswer[]): void {
  report.figure(
    name,
    countBy(answers, ({ detail }) => detail),
  );
  const isError = ({ status, body }: HttpAnswer) => status >= 400 && body.startsWith('{"proxy_error":');
  const wrong = answers.filter((answer) => !isError(answer));
  report.failForEach(wrong, (one) => `${wrong.length} ${name} were answered such as ${describeAnswer(one)}`);
  const isSilent = ({ status, headers }: HttpAnswer) => status === 503 && !/^\d+$/.test(headers['retry-after'] ?? '');
  report.failIf(answers.some(isSilent), `${name}: 503 without Retry-After`);
}

/** Each invocation has transforms, and must give back what was sent. */
async function startGoodTraffic(world: World, url: string, seen: Map<string, number>): Promise<Clients> {
  const requests = openRequests(world);
  const proxy = await requests.createProxy({ destination_url: url, ...transforms });
  return startRepeating(goodClients, async (turn) => {
    const body = { turn };
    const answer = await requests.invoke(world.inTurn('proxy-gateway', turn), { proxyKey: proxy.key, body });
    addTo(seen, answer.status === 200 && answer.body !== JSON.stringify(body) ? 'wrong' : answer.detail);
    await world.pause(20);
  });
}

async function countKills({ adminUrl }: Node): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const counts = [...metrics.matchAll(/^sluice_transform_stops_total(?:\{[^}]*\})? (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
