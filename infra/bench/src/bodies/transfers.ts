import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { BenchmarkContext } from '../benchmark.ts';
import { cpuSecondsOf, memoryOf, resetPeakMemory } from '../machine/process-facts.ts';
import { writeBody } from './write-body.ts';

/** One body, sent or fetched. */
export interface Transfer {
  direction: 'upload' | 'download';
  url: string;
  headers: Record<string, string>;
  sizeBytes: number;
  /** What a download posts; without it the download is a GET. */
  posted?: string;
}

export interface Figures {
  mebibytesPerSecond: number;
  cpuSecondsPerBody: number;
  peakMebibytes: number;
}

const agent = new Agent({ keepAlive: true });

/** Sends or fetches one body. @throws unless all of it arrived. */
export async function transfer(
  { direction, url, headers, sizeBytes, posted }: Transfer,
  signal: AbortSignal,
): Promise<void> {
  const isUpload = direction === 'upload';
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const size = isUpload ? { 'Content-Type': 'application/octet-stream', 'Content-Length': sizeBytes } : {};
  const method = isUpload || posted !== undefined ? 'POST' : 'GET';
  const sent = request(url, { agent, method, headers: { ...headers, ...size }, signal });
  sent.on('response', resolve).on('error', reject);
  if (isUpload) writeBody(sent, sizeBytes);
  else sent.end(posted);
  const answer = await promise;
  if (answer.statusCode !== 200) throw new Error(`${url} answered with ${answer.statusCode}: ${await text(answer)}`);
  const arrived = isUpload ? Number(await text(answer)) : await count(answer);
  if (arrived !== sizeBytes) throw new Error(`${url}: ${arrived} bytes of the ${direction} arrived`);
}

async function count(answer: IncomingMessage): Promise<number> {
  let received = 0;
  for await (const chunk of answer) received += (chunk as Buffer).length;
  return received;
}

/** Transfers the body again and again until the time is over. @param pid of the process that is measured. */
export async function measureTransfers(
  pid: number,
  body: Transfer,
  { seconds, signal }: BenchmarkContext,
): Promise<Figures> {
  await resetPeakMemory(pid);
  const [start, cpuBefore] = [performance.now(), await cpuSecondsOf(pid)];
  let bodies = 0;
  while (performance.now() - start < 1000 * seconds) {
    await transfer(body, signal);
    bodies += 1;
  }
  const tookSeconds = (performance.now() - start) / 1000;
  return {
    mebibytesPerSecond: (bodies * body.sizeBytes) / 2 ** 20 / tookSeconds,
    cpuSecondsPerBody: ((await cpuSecondsOf(pid)) - cpuBefore) / bodies,
    peakMebibytes: await memoryOf(pid, 'VmHWM'),
  };
}
