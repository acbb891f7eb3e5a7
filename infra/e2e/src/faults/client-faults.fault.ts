import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { serveHttp } from '@sluice/testing';
import { rawPost } from '@sluice/testing/raw';
import { percentile, percentiles } from '../under-load/count.ts';
import { watchGateways } from '../under-load/process-state.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

const requestIdHeader = 'x-request-id';

const stormMs = 5000;
const abortsPerSecond = 1000;
/** At once, so that clients of a slow machine do not pile up. */
const mostUnderWay = 64;
/** What is promised is 300 ms; a busy machine may be several times slower at its worst. */
const abortWithinMs = { p50: 300, p99: 1500 };

const slowHeads = 200;
/** 10 s, and the check for it comes once a second. */
const headsWithinMs = 14_000;

const slowReaders = 20;
const readBytes = 4096;
/** Sockets on the way and the gateway itself may hold so much of each body. */
const mostTaken = 24 * 1024 * 1024;
const margins = { peak: 400, after: 150, sockets: 15 };

export const clientFaults = underLoad(
  'client-faults',
  'clients abort in masses, send heads a byte at a time, and read large bodies slowly: calls are given up, all is bounded and freed, others are unharmed',
  { mostFailed: 0, disturb },
);

type Scene = { world: World; destination: SlowDestination } & Record<'slowKey' | 'largeKey', string>;

async function disturb(world: World): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const destination = await startSlowDestination(stack);
  const create = (path: string) =>
    world.manage('POST', '/proxies', { name: `Slow${path}`, destination_url: `${destination.url}${path}` });
  const [{ key: slowKey }, { key: largeKey }] = [await create('/late'), await create('/large')];
  const scene = { world, destination, slowKey, largeKey };
  const watching = await watchGateways(world, margins);
  await abortInMasses(scene);
  await Promise.all([sendSlowHeads(scene), readSlowly(scene)]);
  await watching.judge();
}

/** Each client goes away when its request is at the destination. */
async function abortInMasses({ world, destination, slowKey }: Scene): Promise<void> {
  const sockets = new Map<string, Socket>();
  const abortedAt = new Map<string, number>();
  const delays: number[] = [];
  let sent = 0;
  destination.onArrival = (id) => {
    const socket = sockets.get(id);
    sockets.delete(id);
    abortedAt.set(id, performance.now());
    socket?.resetAndDestroy();
  };
  destination.onAbort = (id) => {
    const at = abortedAt.get(id);
    if (at === undefined) return;
    abortedAt.delete(id);
    delays.push(performance.now() - at);
  };
  const headers = { 'svc-api-key': world.tokenKey, 'svc-proxy-key': slowKey };
  const open = () => {
    const id = randomUUID();
    const socket = connectTo(world, sent);
    sent += 1;
    sockets.set(id, socket);
    socket.on('close', () => sockets.delete(id));
    socket.on('connect', () => socket.write(rawPost('/proxy', { ...headers, [requestIdHeader]: id }, '{}')));
    socket.resume();
  };
  const startedAt = performance.now();
  while (performance.now() - startedAt < stormMs) {
    const due = ((performance.now() - startedAt) / 1000) * abortsPerSecond;
    while (sent < due && sockets.size < mostUnderWay) open();
    await world.pause(2);
  }
  await world.pause(1500);
  for (const socket of sockets.values()) socket.destroy();
  const { report } = world;
  const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
  const aborted = delays.length + abortedAt.size;
  report.figure('aborts, each second', `${aborted}, ${((aborted / stormMs) * 1000).toFixed(0)}`);
  report.figure('the call given up after p50 / p99 / max', percentiles(delays));
  report.failIf(abortedAt.size > 0, `${abortedAt.size} of ${aborted} calls went on after their client had gone`);
  const isInTime = p50 <= abortWithinMs.p50 && p99 <= abortWithinMs.p99;
  report.failIf(!isInTime, `calls were given up after ${p50} / ${p99} ms`);
}

async function sendSlowHeads({ world }: Scene): Promise<void> {
  const startedAt = performance.now();
  const ended: number[] = [];
  const sockets = Array.from({ length: slowHeads }, (_, number) => {
    const socket = connectTo(world, number);
    socket.on('close', () => ended.push(performance.now() - startedAt));
    socket.resume();
    return socket;
  });
  const head = rawPost('/proxy', { 'x-slow': 'a head that takes its time' }, '{}');
  try {
    for (let at = 0; ended.length < slowHeads && performance.now() - startedAt < headsWithinMs; at++) {
      for (const socket of sockets) if (socket.writable) socket.write(head.charAt(at));
      await world.pause(1000);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const inTime = ended.filter((ms) => ms < headsWithinMs);
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const between = `${seconds(Math.min(...inTime))} and ${seconds(Math.max(...inTime))} s`;
  world.report.figure('slow heads ended, between', `${inTime.length} of ${slowHeads}, ${between}`);
  world.report.failIf(inTime.length < slowHeads, `${slowHeads - inTime.length} slow heads were not ended`);
}

const readingMs = 8000;

/** Each takes a few kilobytes a second of a body that is much larger. */
async function readSlowly({ world, destination, largeKey }: Scene): Promise<void> {
  const headers = { 'svc-api-key': world.tokenKey, 'svc-proxy-key': largeKey };
  let started = 0;
  const sockets = Array.from({ length: slowReaders }, (_, number) => {
    const socket = connectTo(world, number);
    socket.on('connect', () =>
      socket.write(rawPost('/proxy', { ...headers, [requestIdHeader]: `large-${number}` }, '{}')),
    );
    socket.once('readable', () => {
      started += 1;
    });
    return socket;
  });
  const until = performance.now() + readingMs;
  try {
    while (performance.now() < until) {
      for (const socket of sockets) socket.read(readBytes);
      await world.pause(1000);
    }
  } finally {
    for (const socket of sockets) socket.resetAndDestroy();
  }
  const taken = [...destination.taken.values()];
  const most = Math.max(0, ...taken);
  await world.pause(2000);
  const inMiB = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);
  const { report } = world;
  const mostInWords = `${inMiB(most)} of ${inMiB(largeBodyBytes)} MiB`;
  report.figure('slow readers, most taken of a large body', `${started}, ${mostInWords}`);
  report.figure('large bodies that still flow', destination.streaming);
  report.failIf(started < slowReaders, `only ${started} slow readers got anything`);
  report.failIf(most > mostTaken, `${inMiB(most)} MiB were taken of a body that was not read`);
  report.failIf(destination.streaming > 0, `${destination.streaming} large bodies still flow to nobody`);
}

function connectTo({ inTurn }: World, number: number): Socket {
  const { hostname: host, port } = new URL(inTurn('proxy-gateway', number).url);
  const socket = connect({ host, port: Number(port) });
  return socket.on('error', () => socket.destroy());
}

type SlowDestination = Awaited<ReturnType<typeof startSlowDestination>>;

const largeBodyBytes = 50 * 1024 * 1024;
const answerAfterMs = 3000;
const piece = Buffer.alloc(64 * 1024, 'z');

/** `/large` gives a large body as fast as it is taken; anything else is answered late. */
async function startSlowDestination(stack: AsyncDisposableStack) {
  const streams = new Set<ServerResponse>();
  const destination = {
    url: '',
    /** Called when a request has arrived. */
    onArrival: (_id: string) => {},
    /** Called when its connection is gone before it was answered. */
    onAbort: (_id: string) => {},
    /** Bytes of large bodies that were taken from it, by request. */
    taken: new Map<string, number>(),
    /** Large bodies that are not at their end and not given up. */
    get streaming() {
      return streams.size;
    },
  };
  destination.url = await serveHttp(stack, (request, response) => {
    const id = String(request.headers[requestIdHeader]);
    request.resume();
    if (request.url === '/large') {
      streams.add(response);
      response.on('close', () => streams.delete(response));
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': largeBodyBytes });
      Readable.from(
        pieces((bytes) => destination.taken.set(id, bytes)),
        { highWaterMark: 1 },
      ).pipe(response);
      return;
    }
    destination.onArrival(id);
    const timer = setTimeout(() => response.end('{}'), answerAfterMs);
    response.on('close', () => {
      clearTimeout(timer);
      if (!response.writableEnded) destination.onAbort(id);
    });
  });
  return destination;
}

function* pieces(onTaken: (bytes: number) => void) {
  for (let sent = piece.length; sent <= largeBodyBytes; sent += piece.length) {
    onTaken(sent);
    yield piece;
  }
}
