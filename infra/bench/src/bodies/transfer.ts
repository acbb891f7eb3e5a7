import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { writeBody } from './write-body.ts';

export interface Transfer {
  direction: 'upload' | 'download';
  url: string;
  headers: Record<string, string>;
  sizeBytes: number;
}

const agent = new Agent({ keepAlive: true });

/** Sends or fetches one body. @throws unless all of it arrived. */
export async function transfer({ direction, url, headers, sizeBytes }: Transfer, signal: AbortSignal): Promise<void> {
  const isUpload = direction === 'upload';
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const size = isUpload ? { 'Content-Type': 'application/octet-stream', 'Content-Length': sizeBytes } : {};
  const sent = request(url, { agent, method: isUpload ? 'POST' : 'GET', headers: { ...headers, ...size }, signal });
  sent.on('response', resolve).on('error', reject);
  if (isUpload) writeBody(sent, sizeBytes);
  else sent.end();
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
