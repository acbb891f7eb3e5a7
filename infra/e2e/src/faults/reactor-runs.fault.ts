import { createServer } from 'node:http';
import { listen } from '@sluice/service-runtime';
import { type Answer, call, connectPostgres, waitUntil } from '@sluice/testing';
import type { Node } from '../cluster/node.ts';
import type { Site } from '../cluster/site.ts';
import { sendRedisCommand } from '../cluster/stores.ts';
import { startPlatform } from '../platform.ts';
import type { FaultContext, FaultTest, Report } from './fault-test.ts';

const leaseMs = 2000;
/** A lease, the interval of the sweep, a start, and a busy machine. */
const endsWithinMs = 60_000;
const runsOfEach = 4;

/** What happens to runs at one stage, and what must have become of each that was acknowledged. */
interface Case {
  name: string;
  stage: 'waiting' | 'unmarked' | 'marked';
  retryable: boolean;
  /** @returns its repair. */
  fault(world: World): Promise<() => Promise<unknown>>;
  /** How it ends, and how often its destination is called. */
  outcome: 'done' | 'interrupted';
  calls: number;
}

const done = { outcome: 'done', calls: 1, retryable: false } as const;

const cases: readonly Case[] = [
  { name: 'gateways killed, not begun', stage: 'waiting', fault: killGateways, ...done },
  { name: 'gateways killed, running', stage: 'unmarked', fault: killGateways, ...done },
  { name: 'gateways killed, called out', stage: 'marked', fault: killGateways, ...done, outcome: 'interrupted' },
  {
    name: 'gateways killed, called out, retryable',
    stage: 'marked',
    fault: killGateways,
    ...done,
    retryable: true,
    calls: 2,
  },
  { name: 'gateways asked to end, running', stage: 'unmarked', fault: stopGateways, ...done },
  { name: 'workers killed, not begun', stage: 'waiting', fault: killWorkers, ...done },
  { name: 'Redis flushed, not begun', stage: 'waiting', fault: flushRedis, ...done },
  { name: 'Redis flushed, called out', stage: 'marked', fault: flushRedis, ...done },
];

/** Reads a token, and then calls its destination at a path of its own. */
const code = `module.exports = async (req) => {
  await req.svc.tokens.retrieve(req.args.token);
  return { raw: (await fetch(req.args.url)).status };
}`;

async function run(context: FaultContext): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const site = await startPlatform(stack, {
    ...context,
    environment: {
      REACTOR_RUN_LEASE_MS: String(leaseMs),
      REACTOR_THREADS: String(2 * runsOfEach + 2),
      JOB_LOCK_MS: '2000',
    },
    processes: { 'management-api': 1, 'token-vault': 1, 'proxy-gateway': 2, worker: 2 },
  });
  const world = await openWorld(site, stack);
  for (const one of cases) await observe(world, one, context.report);
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function openWorld(site: Site, stack: AsyncDisposableStack) {
  const destination = await openDestination(stack);
  const management = site.node('management-1').url;
  const key = site.credentials.management_key;
  const create = async (url: string, path: string, by: string, body: object): Promise<Answer['body']> => {
    const answer = await call(url, 'POST', path, { key: by, body });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const permissions = ['token:create', 'token:read', 'token:use'];
  const application = await create(management, '/applications', key, { name: 'Runs', type: 'private', permissions });
  const createReactor = (retryable: boolean) =>
    create(management, '/reactors', key, { name: 'Runs', code, application: { id: application.id }, retryable });
  const createToken = () =>
    create(site.node('vault-1').url, '/tokens', application.key, { type: 'token', data: 'value of a run' });
  return { site, destination, key: application.key as string, createReactor, createToken };
}

/** Counts calls by path. While it is held, they get no answer. */
async function openDestination(stack: AsyncDisposableStack) {
  const calls = new Map<string, number>();
  const held = new Set<() => void>();
  let isHeld = false;
  const server = createServer(({ url = '' }, response) => {
    calls.set(url, (calls.get(url) ?? 0) + 1);
    if (isHeld) held.add(() => response.end('{}'));
    else response.end('{}');
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0, stack });
  stack.defer(() => server.closeAllConnections());
  return {
    url: `http://127.0.0.1:${port}`,
    callsOf: (path: string) => calls.get(path) ?? 0,
    hold: () => {
      isHeld = true;
    },
    release: () => {
      isHeld = false;
      for (const answer of held) answer();
      held.clear();
    },
  };
}

async function observe(world: World, { name, stage, retryable, fault, outcome, calls }: Case, report: Report) {
  const { site, destination } = world;
  const { id: reactorId } = await world.createReactor(retryable);
  const tokens: string[] = [];
  while (tokens.length < runsOfEach) tokens.push((await world.createToken()).id); // another for each, as gateways remember them
  await using held = await holdAt(stage, world);
  const runs = await askFor(world, reactorId, tokens);
  const states = { waiting: 'waiting', unmarked: 'running', marked: 'running' } as const;
  const isThere = await waitUntil(async () => {
    const rows = await rowsOf(site, reactorId);
    const isMarked = rows.every(({ marked_at }) => (marked_at !== null) === (stage === 'marked'));
    return isMarked && rows.every(({ state }) => state === states[stage]);
  }, endsWithinMs);
  report.failIf(!isThere, `${name}: the runs are not ${stage} when the fault comes: nothing was shown`);
  const mend = await fault(world);
  await held.release();
  await mend();
  const startedAt = performance.now();
  const haveEnded = await waitUntil(
    async () => (await rowsOf(site, reactorId)).every(({ ended_at }) => ended_at !== null),
    endsWithinMs,
  );
  report.figure(
    name,
    haveEnded ? `${runs.length} ended after ${(performance.now() - startedAt).toFixed(0)} ms` : 'not ended',
  );
  report.failIf(!haveEnded, `${name}: not every run has ended within ${endsWithinMs} ms`);
  const rows = await rowsOf(site, reactorId);
  report.failIf(rows.length !== runs.length, `${name}: ${rows.length} rows of ${runs.length} acknowledged runs`);
  for (const { id, path } of runs) {
    const { status, body } = await resultOf(world, reactorId, id);
    const told = body.error ? 'interrupted' : 'done';
    const isRight =
      status === 200 && told === outcome && (outcome === 'done' ? body.raw === 200 : body.error.status === 500);
    report.failIf(!isRight, `${name}: a run is told as ${status} ${JSON.stringify(body)}, not as ${outcome}`);
    const called = destination.callsOf(path);
    report.failIf(called !== calls, `${name}: the destination was called ${called} times for a run, not ${calls}`);
  }
}

let asked = 0;

/** Each is acknowledged, by one gateway or the other. */
async function askFor({ site, destination, key }: World, reactorId: string, tokens: readonly string[]) {
  const runs: { id: string; path: string }[] = [];
  for (const [turn, token] of tokens.entries()) {
    const path = `/run/${asked++}`;
    const { url } = site.inTurn('proxy-gateway', turn);
    const body = { args: { token, url: `${destination.url}${path}` } };
    const answer = await call(url, 'POST', `/reactors/${reactorId}/react-async`, { key, body });
    if (answer.status !== 202) throw new Error(`react-async answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    runs.push({ id: answer.body.async_reactor_request_id, path });
  }
  return runs;
}

/** Keeps runs where they are until they are released. */
async function holdAt(stage: Case['stage'], { site, destination }: World) {
  if (stage === 'marked') {
    destination.hold();
    return { release: async () => destination.release(), [Symbol.asyncDispose]: async () => destination.release() };
  }
  if (stage === 'waiting') {
    const ways = site.of('proxy-gateway').map(({ redis }) => redis); // by which jobs come
    for (const way of ways) way.stall();
    const release = async () => {
      for (const way of ways) way.calm();
    };
    return { release, [Symbol.asyncDispose]: release };
  }
  const store = await connectPostgres(site.stores.databaseUrl);
  await store.query('begin');
  await store.query('lock table tokens in access exclusive mode');
  return { release: () => store.query('commit'), [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

async function killGateways({ site }: World) {
  return killed(site.of('proxy-gateway'));
}

async function killWorkers({ site }: World) {
  return killed(site.of('worker'));
}

async function killed(nodes: readonly Node[]) {
  await Promise.all(nodes.map((node) => node.kill()));
  return () => Promise.all(nodes.map((node) => node.restart()));
}

async function stopGateways({ site }: World) {
  const nodes = site.of('proxy-gateway');
  await Promise.all(nodes.map((node) => node.stop()));
  return () => Promise.all(nodes.map((node) => node.restart()));
}

async function flushRedis({ site }: World) {
  await sendRedisCommand(site, 'FLUSHALL');
  return async () => undefined;
}

interface Row {
  state: string;
  marked_at: string | null;
  ended_at: string | null;
}

function rowsOf({ query }: Site, reactorId: string): Promise<Row[]> {
  return query<Row>('select state, marked_at, ended_at from reactor_runs where reactor_id = $1', [reactorId]);
}

function resultOf({ site, key }: World, reactorId: string, id: string): Promise<Answer> {
  return call(site.node('gateway-1').url, 'GET', `/reactors/${reactorId}/results/${id}`, { key });
}

export const reactorRuns: FaultTest = {
  name: 'reactor-runs',
  description:
    'gateways and workers are killed and Redis is flushed while runs wait, run and have called out: each that was acknowledged is finished, or told as interrupted and never repeated',
  run,
};
