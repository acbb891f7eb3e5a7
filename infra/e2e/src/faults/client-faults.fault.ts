import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { rawPost } from '@sluice/testing/raw';
import type { Node } from '../cluster/node.ts';
import { percentile, percentiles } from '../under-load/count.ts';
import { requestIdHeader } from '../under-load/misbehaving-destination.ts';
import { inWords, memoryOf, socketsOf, socketsOnceFreed, watchFigure } from '../under-load/process-state.ts';
import { type Disturbance, type Found, underLoad } from '../under-load/run.ts';
import { largeBodyBytes, type SlowDestination, startSlowDestination } from '../under-load/slow-destination.ts';
import type { World } from '../under-load/world.ts';

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
const memoryMargin = { peak: 400, after: 150 };
const socketMargin = 15;

export const clientFaults = underLoad(
  'client-faults',
  'clients abort in masses, send heads a byte at a time, and read large bodies slowly: calls are given up, all is bounded and freed, others are unharmed',
  { mostFailed: 0, disturb },
);

interface Scene {
  world: World;
  destination: SlowDestination;
  gateways: readonly Node[];
  slowKey: string;
  largeKey: string;
}

async function disturb(world: World): Promise<Disturbance> {
  await using stack = new AsyncDisposableStack();
  const gateways = world.of('proxy-gateway');
  const destination = await startSlowDestination(stack);
  const create = (path: string) =>
    world.manage('POST', '/proxies', { name: `Slow${path}`, destination_url: `${destination.url}${path}` });
  const scene: Scene = {
    world,
    destination,
    gateways,
    slowKey: (await create('/late')).key,
    largeKey: (await create('/large')).key,
  };
  const socketsBefore = await Promise.all(gateways.map(socketsOf));
  const memories = gateways.map((gateway) => watchFigure(() => memoryOf(gateway)));
  const storm = await abortInMasses(scene);
  const [heads, readers] = await Promise.all([sendSlowHeads(scene), readSlowly(scene)]);
  const socketsAfter = await socketsOnceFreed(world, socketsBefore);
  const memory = await Promise.all(memories.map((watching) => watching.stop()));
  return {
    figures: [
      ...storm.figures,
      ...heads.figures,
      ...readers.figures,
      ['memory before / peak / after', memory.map((one) => inWords(one, ' MiB')).join(', ')],
      ['sockets before / after', `${socketsBefore} / ${socketsAfter}`],
    ],
    failures: [
      ...storm.failures,
      ...heads.failures,
      ...readers.failures,
      ...memory
        .filter(({ before, peak, after }) => peak > before + memoryMargin.peak || after > before + memoryMargin.after)
        .map((one) => `memory of a gateway went ${inWords(one, ' MiB')}`),
      ...socketsAfter
        .filter((count, at) => count > (socketsBefore[at] ?? 0) + socketMargin)
        .map((count) => `a gateway keeps ${count} sockets, before it were ${socketsBefore}`),
    ],
  };
}

/** Each client goes away when its request is at the destination. */
async function abortInMasses({ world, destination, gateways, slowKey }: Scene): Promise<Found> {
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
    const socket = connect({ host: '127.0.0.1', port: portOf(gateways[sent % gateways.length]) });
    sent += 1;
    sockets.set(id, socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(id));
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
  const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
  const aborted = delays.length + abortedAt.size;
  return {
    figures: [
      ['aborts, each second', `${aborted}, ${((aborted / stormMs) * 1000).toFixed(0)}`],
      ['the call given up after p50 / p99 / max', percentiles(delays)],
    ],
    failures: [
      ...(abortedAt.size > 0 ? [`${abortedAt.size} of ${aborted} calls went on after their client had gone`] : []),
      ...(p50 <= abortWithinMs.p50 && p99 <= abortWithinMs.p99 ? [] : [`calls were given up after ${p50} / ${p99} ms`]),
    ],
  };
}

/** Each sends a byte of its head a second. */
async function sendSlowHeads({ world, gateways }: Scene): Promise<Found> {
  const startedAt = performance.now();
  const ended: number[] = [];
  const sockets = Array.from({ length: slowHeads }, (_, number) => {
    const socket = connect({ host: '127.0.0.1', port: portOf(gateways[number % gateways.length]) });
    socket.on('error', () => socket.destroy()).on('close', () => ended.push(performance.now() - startedAt));
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
  return {
    figures: [
      [
        'slow heads ended, between',
        `${inTime.length} of ${slowHeads}, ${seconds(Math.min(...inTime))} and ${seconds(Math.max(...inTime))} s`,
      ],
    ],
    failures: inTime.length < slowHeads ? [`${slowHeads - inTime.length} slow heads were not ended`] : [],
  };
}

const readingMs = 8000;

/** Each takes a few kilobytes a second of a body that is much larger. */
async function readSlowly({ world, destination, gateways, largeKey }: Scene): Promise<Found> {
  const headers = { 'svc-api-key': world.tokenKey, 'svc-proxy-key': largeKey };
  let started = 0;
  const sockets = Array.from({ length: slowReaders }, (_, number) => {
    const socket = connect({ host: '127.0.0.1', port: portOf(gateways[number % gateways.length]) });
    socket.on('error', () => socket.destroy());
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
  return {
    figures: [
      ['slow readers, most taken of a large body', `${started}, ${inMiB(most)} of ${inMiB(largeBodyBytes)} MiB`],
      ['large bodies that still flow', String(destination.streaming)],
    ],
    failures: [
      ...(started < slowReaders ? [`only ${started} slow readers got anything`] : []),
      ...(most > mostTaken ? [`${inMiB(most)} MiB were taken of a body that was not read`] : []),
      ...(destination.streaming > 0 ? [`${destination.streaming} large bodies still flow to nobody`] : []),
    ],
  };
}

const portOf = (node: Node | undefined) => Number(new URL(node?.url ?? '').port);
