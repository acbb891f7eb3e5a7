import { randomUUID } from 'node:crypto';
import { type RawAnswer, rawPost, sendRaw } from '@sluice/testing/raw';
import { addTo, describeCounts } from '../under-load/count.ts';
import {
  type DestinationFault,
  faultHeader,
  requestIdHeader,
  startMisbehavingDestination,
  wholeBody,
} from '../under-load/misbehaving-destination.ts';
import { socketsOf, socketsOnceFreed } from '../under-load/process-state.ts';
import { type Disturbance, underLoad } from '../under-load/run.ts';
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

function judge({ status, isComplete, body }: RawAnswer): Verdict | 'wrong' {
  if (!isComplete) return 'cut';
  if (status === 200) return body === wholeBody ? 'whole' : 'wrong';
  return `error ${status}`;
}

async function disturb(world: World): Promise<Disturbance> {
  await using stack = new AsyncDisposableStack();
  const gateways = world.of('proxy-gateway');
  const destination = await startMisbehavingDestination(stack);
  const plain = await world.manage('POST', '/proxies', { name: 'Faulty', destination_url: destination.url });
  const code = 'module.exports = async (req) => ({ headers: { ...req.args.headers, "x-seen": "yes" } });';
  const transformed = await world.manage('POST', '/proxies', {
    name: 'Faulty, transformed',
    destination_url: destination.url,
    response_transform: { code },
  });
  const send = (number: number, proxyKey: string, fault: string) => {
    const headers = { 'svc-api-key': world.tokenKey, 'svc-proxy-key': proxyKey, [faultHeader]: fault };
    const body = fault === 'answers early' ? JSON.stringify('y'.repeat(300_000)) : '{}';
    const gateway = gateways[number % gateways.length];
    const waitMs = fault === 'hangs in the body' ? hangMs : patienceMs;
    return sendRaw(
      gateway?.url ?? '',
      rawPost('/proxy', { ...headers, [requestIdHeader]: randomUUID() }, body),
      waitMs,
    );
  };
  const socketsBefore = await Promise.all(gateways.map(socketsOf));

  const failures: string[] = [];
  const answers = new Map<string, number>();
  for (const [fault, verdict] of Object.entries(due)) {
    await Promise.all(
      Array.from({ length: repeats }, async (_, number) => {
        const seen = judge(await send(number, plain.key, fault));
        addTo(answers, `${fault}: ${seen}`);
        if (seen !== verdict) failures.push(`"${fault}" was ${seen}, not ${verdict}`);
        if (verdict !== 'cut') return;
        // A response transform needs the whole body: what is cut must be an error, or be seen to be cut
        const after = judge(await send(number, transformed.key, fault));
        if (after === 'whole' || after === 'wrong') failures.push(`"${fault}" was ${after} after a transform`);
      }),
    );
  }
  const race = await raceWithCloses(world, (number) => send(number, plain.key, 'closes what is kept'));
  const repeated = [...destination.arrivals.values()].filter((count) => count > 1).length;
  const socketsAfter = await socketsOnceFreed(world, socketsBefore);
  return {
    figures: [
      ['requests with a fault', String([...answers.values()].reduce((sum, count) => sum + count, 0))],
      ['POST beside closes of kept connections', describeCounts(race)],
      ['requests that arrived twice', String(repeated)],
      ['sockets of gateways before / after', `${socketsBefore} / ${socketsAfter}`],
    ],
    failures: [
      ...new Set(failures),
      ...(repeated > 0 ? [`${repeated} requests arrived twice`] : []),
      ...[...race.keys()]
        .filter((seen) => seen !== 'whole' && seen !== 'error 502')
        .map((seen) => `a request beside a close was ${seen}`),
      ...(race.get('whole') ? [] : ['no request succeeded beside closes']),
      ...socketsAfter
        .filter((count, at) => count > (socketsBefore[at] ?? 0) + socketMargin)
        .map((count) => `a gateway keeps ${count} sockets, before it were ${socketsBefore}`),
    ],
  };
}

/** The destination closes each connection just when it may be used again. */
async function raceWithCloses(
  { pause }: World,
  send: (number: number) => Promise<RawAnswer>,
): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  const until = performance.now() + raceMs;
  await Promise.all(
    Array.from({ length: racers }, async (_, number) => {
      for (let turn = number; performance.now() < until; turn++) {
        addTo(seen, judge(await send(turn)));
        await pause(turn % 3);
      }
    }),
  );
  return seen;
}
