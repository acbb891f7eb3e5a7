import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { serveBytes } from '@sluice/testing';
import { type RawAnswer, rawPost, sendRaw } from '@sluice/testing/raw';
import { startRepeating } from '../under-load/clients.ts';
import { countKinds } from '../under-load/count.ts';
import { watchGateways } from '../under-load/process-state.ts';
import { underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

/** Not so short that a head which drips on a busy machine comes too late. */
const headTimeoutMs = 3000;
const hangMs = 2000;
const patienceMs = 8000;
const repeats = 5;
const raceMs = 8000;
const racers = 8;
/** Connections of the load itself come and go. */
const socketMargin = 15;

export const destinationFaults = underLoad(
  'destination-faults',
  'a destination hangs, resets, drips, closes what is kept alive and sends garbage: nothing cut looks whole, nothing is sent twice, sockets are freed',
  { mostFailed: 0, environment: { DESTINATION_HEAD_TIMEOUT_MS: String(headTimeoutMs) }, disturb },
);

/** What the caller must see: a whole answer, an error in its place, or one that is visibly cut. */
const due: Readonly<Record<Exclude<DestinationFault, 'closes what is kept'> | 'answers early', Verdict>> = {
  'hangs before the head': 'error 504',
  'hangs in the body': 'cut',
  'resets a sized body': 'cut',
  'closes a sized body': 'cut',
  'resets a chunked body': 'cut',
  'closes a chunked body': 'cut',
  'closes in a chunk': 'cut',
  'resets an unframed body': 'cut',
  'resets in the head': 'error 502',
  'sends garbage': 'error 502',
  drips: 'whole',
  'answers early': 'whole',
};

type Verdict = 'whole' | 'cut' | `error ${number}`;

function verdictOf({ status, isComplete, body }: RawAnswer): Verdict | 'wrong' {
  if (!isComplete) return 'cut';
  if (status === 200) return body === wholeBody ? 'whole' : 'wrong';
  return `error ${status}`;
}

async function disturb(world: World): Promise<void> {
  const { report } = world;
  await using stack = new AsyncDisposableStack();
  const destination = await startMisbehavingDestination(stack);
  const create = (more: object) =>
    world.manage('POST', '/proxies', { name: 'Faulty', destination_url: destination.url, ...more });
  const plain = await create({});
  const code = 'module.exports = async (req) => ({ headers: { ...req.args.headers, "x-seen": "yes" } });';
  const transformed = await create({ response_transform: { code } });
  const send = async (number: number, proxyKey: string, fault: string) => {
    const headers = { 'svc-api-key': world.tokenKey, 'svc-proxy-key': proxyKey, [faultHeader]: fault };
    const body = fault === 'answers early' ? JSON.stringify('y'.repeat(300_000)) : '{}';
    const { url } = world.inTurn('proxy-gateway', number);
    const waitMs = fault === 'hangs in the body' ? hangMs : patienceMs;
    return verdictOf(
      await sendRaw(url, rawPost('/proxy', { ...headers, [requestIdHeader]: randomUUID() }, body), waitMs),
    );
  };
  const watching = await watchGateways(world, { sockets: socketMargin });

  const wrong = new Set<string>();
  const sendFault = async (fault: string, verdict: Verdict, number: number) => {
    const seen = await send(number, plain.key, fault);
    if (seen !== verdict) wrong.add(`"${fault}" was ${seen}, not ${verdict}`);
    if (verdict !== 'cut') return;
    // A response transform needs the whole body: what is cut must be an error, or be seen to be cut
    const after = await send(number, transformed.key, fault);
    if (after === 'whole' || after === 'wrong') wrong.add(`"${fault}" was ${after} after a transform`);
  };
  for (const [fault, verdict] of Object.entries(due)) {
    await Promise.all(Array.from({ length: repeats }, (_, number) => sendFault(fault, verdict, number)));
  }
  report.figure('requests with a fault', repeats * Object.keys(due).length);
  report.failures.push(...wrong);
  await raceWithCloses(world, (number) => send(number, plain.key, 'closes what is kept'));
  const repeated = destination.arrivals.length - new Set(destination.arrivals).size;
  report.figure('requests that arrived twice', repeated);
  report.failIf(repeated > 0, `${repeated} requests arrived twice`);
  await watching.judge();
}

/** The destination closes each connection just when it may be used again. */
async function raceWithCloses({ pause, report }: World, send: (number: number) => Promise<string>): Promise<void> {
  const seen: string[] = [];
  const racing = startRepeating(racers, async (turn) => {
    seen.push(await send(turn));
    await pause(turn % 3);
  });
  await Promise.race([pause(raceMs), racing.broken]).finally(racing.stop);
  report.figure('POST beside closes of kept connections', countKinds(seen));
  const wrong = new Set(seen.filter((verdict) => verdict !== 'whole' && verdict !== 'error 502'));
  report.failForEach([...wrong], (verdict) => `a request beside a close was ${verdict}`);
  report.failIf(!seen.includes('whole'), 'no request succeeded beside closes');
}

const faultHeader = 'x-fault';
const requestIdHeader = 'x-request-id';

type DestinationFault = keyof typeof faults;

const wholeBody = 'x'.repeat(60);
const half = wholeBody.slice(0, 30);
const sized = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${wholeBody.length}\r\n\r\n`;
const chunked = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n';
const unframed = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n';
const chunk = `${half.length.toString(16)}\r\n${half}\r\n`;
const whole = `${sized}${wholeBody}`;

/** Long enough for the first part to have been passed on. */
const pauseMs = 50;
const later = (act: () => void, ms = pauseMs) => void setTimeout(act, ms);

const cut = (text: string, end: (socket: Socket) => void) => (socket: Socket) => {
  socket.write(text);
  later(() => end(socket));
};
const reset = (socket: Socket) => void socket.resetAndDestroy();
const close = (socket: Socket) => void socket.end();

const faults = {
  'hangs before the head': () => undefined,
  'hangs in the body': (socket: Socket) => void socket.write(sized + half),
  'resets a sized body': cut(sized + half, reset),
  'closes a sized body': cut(sized + half, close),
  'resets a chunked body': cut(chunked + chunk, reset),
  'closes a chunked body': cut(chunked + chunk, close),
  'closes in a chunk': cut(`${chunked}20\r\n${half}`, close),
  'resets an unframed body': cut(unframed + half, reset),
  'resets in the head': cut(sized.slice(0, 30), reset),
  drips: (socket: Socket) => {
    let at = 0;
    const drip = () => {
      if (at === whole.length || socket.destroyed) return;
      socket.write(whole.charAt(at));
      at += 1;
      later(drip, 3);
    };
    drip();
  },
  'sends garbage': (socket: Socket) => void socket.write('what is this?\r\n\r\n'),
  'closes what is kept': (socket: Socket) => {
    socket.write(whole);
    later(() => socket.end(), Math.random() * 4);
  },
} as const;

/** A destination without HTTP of its own: it does to each request what its header asks for. */
async function startMisbehavingDestination(stack: AsyncDisposableStack) {
  /** The id of each request. */
  const arrivals: string[] = [];
  const url = await serveBytes(stack, (socket) => {
    let received = '';
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('error', () => socket.destroy());
    socket.on('data', (text) => {
      received += text;
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const read = (name: string) => new RegExp(`\\r\\n${name}: ([^\\r]*)`, 'i').exec(received)?.[1];
      const bodyEnd = headEnd + 4 + Number(read('content-length') ?? 0);
      const isEarly = read(faultHeader) === 'answers early';
      if (received.length < bodyEnd && !isEarly) return;
      arrivals.push(read(requestIdHeader) ?? '');
      const fault = read(faultHeader);
      received = received.slice(bodyEnd);
      if (isEarly) socket.end(`${unframed}${wholeBody}`);
      else faults[fault as DestinationFault](socket);
    });
  });
  return { url, arrivals };
}
