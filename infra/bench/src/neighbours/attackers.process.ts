import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { yieldToOthers } from './yield-to-others.ts';

/** The input of the process. */
export interface AttackTask {
  url: string;
  /** By default POST. */
  method?: string;
  headers: Record<string, string>;
  bodyBase64: string;
  attempts: Attempts;
}

export interface Attempts {
  atOnce: number;
  /** Bodies are sent in chunks of one byte, one after each pause, or all at once. */
  chunked?: { everyMs: number };
}

/** How often each status was answered; `none` is an end without an answer. */
export type Answers = Record<string, number>;

yieldToOthers();

const [taskFile = ''] = process.argv.slice(2);
const {
  url,
  method = 'POST',
  headers,
  bodyBase64,
  attempts,
} = JSON.parse(readFileSync(taskFile, 'utf8')) as AttackTask;
const { atOnce, chunked } = attempts;
const { origin, pathname, search, hostname, port, host } = new URL(url);
const path = pathname + search;
const body = Buffer.from(bodyBase64, 'base64');
const pool = new Pool(origin, { connections: atOnce, pipelining: 1, maxHeaderSize: 256 * 1024 });
const answers: Answers = {};
let isOver = false;
const chunks = chunked ? Array.from(body, (byte) => `1\r\n${String.fromCharCode(byte)}\r\n`) : [];
const allChunks = chunks.join('');

async function sendWhole(): Promise<string> {
  const answer = await pool.request({ path, method, headers, body: body.length > 0 ? body : null });
  await answer.body.dump({ limit: Number.POSITIVE_INFINITY });
  return String(answer.statusCode);
}

async function sendInChunks(everyMs: number): Promise<string> {
  const socket = connect(Number(port), hostname).setNoDelay();
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('data', (bytes) => resolve(/^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1'))?.[1] ?? 'none'));
  socket.on('close', () => resolve('none'));
  socket.on('error', () => resolve('none'));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines.join('')}Transfer-Encoding: chunked\r\n\r\n`);
  if (everyMs === 0) socket.write(allChunks);
  else {
    for (const chunk of chunks) {
      if (isOver || socket.destroyed) break;
      socket.write(chunk);
      await sleep(everyMs);
    }
  }
  if (isOver) return 'none';
  socket.write('0\r\n\r\n');
  const status = await promise;
  socket.destroy();
  return status;
}

async function attack(): Promise<void> {
  while (!isOver) {
    const status = await (chunked ? sendInChunks(chunked.everyMs) : sendWhole()).catch(() => 'none');
    answers[status] = (answers[status] ?? 0) + 1;
  }
}

const attackers = Array.from({ length: atOnce }, attack);
console.log('attacking');
process.stdin
  .on('end', async () => {
    isOver = true;
    // Open requests would disturb the next measurement.
    await Promise.race([Promise.all(attackers), sleep(4000)]);
    console.log(JSON.stringify(answers));
    process.exit();
  })
  .resume();
