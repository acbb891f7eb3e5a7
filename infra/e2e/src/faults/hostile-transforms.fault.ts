import { hostileModule, hostilePrograms } from '@sluice/sandbox/hostile';
import { type HttpAnswer, startCountingDestination } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import { transforms } from '../coherence/client.ts';
import { type Clients, startRepeating } from '../under-load/clients.ts';
import { countDetails, countKinds } from '../under-load/count.ts';
import { watchGateways } from '../under-load/process-state.ts';
import { underLoad } from '../under-load/run.ts';
import { describeAnswer, type Tenant } from '../under-load/tenant.ts';
import { createSecondTenant, type World } from '../under-load/world.ts';

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
  hostile: Tenant;
  keys: readonly string[];
}

async function disturb(world: World): Promise<void> {
  const { report } = world;
  await using stack = new AsyncDisposableStack();
  const destination = await startCountingDestination(({ method }) => method, stack);
  const hostile = await createSecondTenant(world);
  const keys = await createHostileProxies(hostile, programs, destination.url);
  const pids = world.nodes.map(({ pid }) => pid);
  const watching = await watchGateways(world, { after: memoryMargin });
  await world.pause(500);

  const good: string[] = [];
  const passing = await startGoodTraffic(world, destination.url, good);
  stack.defer(() => passing.stop());
  const scene: Scene = { world, hostile, keys };
  await sendHostile(scene);
  await sendBurst(scene);
  await passing.stop();
  await world.pause(settleMs);

  const failed = good.filter((detail) => detail !== '200').length;
  report.figure('good invocations with transforms', countKinds(good));
  const isHarmed = good.length === 0 || failed / good.length >= 0.001;
  report.failIf(isHarmed, `${failed} of ${good.length} good invocations failed`);
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
    answers.push(await hostile.invoke(gateway, { proxyKey, timeoutMs: 20_000 }));
    await world.pause(10);
  });
  await Promise.race([world.pause(hostileMs), sending.broken]).finally(sending.stop);
  judgeAnswers(scene, 'hostile calls', answers);
}

async function sendBurst(scene: Scene): Promise<void> {
  const { world, hostile, keys } = scene;
  const gateway = world.inTurn('proxy-gateway', 0);
  const invoke = (number: number) => hostile.invoke(gateway, { proxyKey: keys[number % 2] ?? '', timeoutMs: 20_000 });
  const answers = await Promise.all(Array.from({ length: burst }, (_, number) => invoke(number)));
  judgeAnswers(scene, `${burst} of them at once`, answers);
  world.report.failIf(!answers.some(({ status }) => status === 503), 'the queue took everything at once');
}

/** Proxies of a Tenant that run these programs on each request. @returns their keys. */
export async function createHostileProxies(tenant: Tenant, names: readonly string[], destination_url: string) {
  const keys: string[] = [];
  for (const name of names) {
    const code = hostileModule(hostilePrograms[name] ?? '');
    keys.push((await tenant.createProxy({ destination_url, request_transform: { code } })).key);
  }
  return keys;
}

/** An error of ours; a destination was never reached. */
export const isProxyError = ({ status, body }: HttpAnswer) => status >= 400 && body.startsWith('{"proxy_error":');

/** Each must be an error of the Proxy, and say when to try again where that may help. */
function judgeAnswers({ world: { report } }: Scene, name: string, answers: readonly HttpAnswer[]): void {
  report.figure(name, countDetails(answers));
  const wrong = answers.filter((answer) => !isProxyError(answer));
  report.failForEach(wrong, (one) => `${wrong.length} ${name} were answered such as ${describeAnswer(one)}`);
  const isSilent = ({ status, headers }: HttpAnswer) => status === 503 && !/^\d+$/.test(headers['retry-after'] ?? '');
  report.failIf(answers.some(isSilent), `${name}: 503 without Retry-After`);
}

/** Each invocation has transforms, and must give back what was sent. */
async function startGoodTraffic(world: World, url: string, seen: string[]): Promise<Clients> {
  const proxy = await world.createProxy({ destination_url: url, ...transforms });
  return startRepeating(goodClients, async (turn) => {
    const body = { turn };
    const answer = await world.invoke(world.inTurn('proxy-gateway', turn), { proxyKey: proxy.key, body });
    seen.push(answer.status === 200 && answer.body !== JSON.stringify(body) ? 'wrong' : answer.detail);
    await world.pause(20);
  });
}

async function countKills({ adminUrl }: Node): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const counts = [...metrics.matchAll(/^sluice_transform_stops_total(?:\{[^}]*\})? (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
