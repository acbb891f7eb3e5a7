import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, LaunchError } from '../launch-error.ts';
import { describeEnd, hasEnded, lastLines } from '../processes/child.ts';

export interface StartingRedis {
  child: ChildProcess;
  port: number;
  password: string;
  logFile: string;
  signal: AbortSignal | undefined;
}

const readyWithinMs = 10_000;

/** Resolves when the server that is being started answers. */
export async function untilRedisAnswers({ child, port, password, logFile, signal }: StartingRedis): Promise<void> {
  const deadline = performance.now() + readyWithinMs;
  for (;;) {
    signal?.throwIfAborted();
    if (hasEnded(child)) {
      throw new LaunchError(`Redis did not start (${describeEnd(child)}):\n${await lastLines(logFile)}`);
    }
    if (await answers(port, password)) return;
    if (performance.now() > deadline) throw new LaunchError(`Redis does not answer; its log is ${logFile}`);
    await sleep(20);
  }
}

/** One AUTH and one PING, as inline commands. */
function answers(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 });
    socket.setEncoding('latin1');
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    socket.on('data', (text) => {
      received += text;
      if (received.includes('+PONG')) socket.destroy();
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(received.includes('+PONG')));
  });
}

/** @throws {LaunchError} where nobody listens at the URL. */
export async function assertReachable(url: string): Promise<void> {
  const { hostname = '', port } = URL.parse(url) ?? {};
  const reason = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379), timeout: 3000 });
    const answer = (text?: string) => {
      socket.destroy();
      resolve(text);
    };
    socket.once('connect', () => answer());
    socket.once('timeout', () => answer('no answer'));
    socket.once('error', (error) => answer(errorCode(error) ?? error.message));
  });
  if (reason) throw new LaunchError(`The Redis of REDIS_URL at ${hostname}:${port || 6379} is away (${reason})`);
}
