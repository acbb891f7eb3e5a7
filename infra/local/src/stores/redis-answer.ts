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

/** A bound for what hangs: a process that has ended is told at once. */
const readyWithinMs = 60_000;

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

/** Sends one AUTH and one PING as inline commands. */
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

/** @throws {LaunchError} where no host of the URL can be reached. */
export async function assertReachable(url: string): Promise<void> {
  const several = /^rediss?\+(cluster|sentinel):\/\/(?:[^@/]*@)?([^@/?]+)/.exec(url);
  const defaultPort = several?.[1] === 'sentinel' ? 26_379 : 6379;
  const { host: single = '' } = URL.parse(url) ?? {};
  const tries: string[] = [];
  for (const host of several?.[2]?.split(',') ?? [single]) {
    const { hostname = '', port = '' } = URL.parse(`redis://${host}`) ?? {};
    const reason = await whyUnreachable(hostname.replace(/^\[|\]$/g, ''), Number(port || defaultPort));
    if (reason === undefined) return;
    tries.push(`${hostname}:${port || defaultPort} is away (${reason})`);
  }
  throw new LaunchError(`The Redis of REDIS_URL at ${tries.join(', ')}`);
}

function whyUnreachable(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 3000 });
    const answer = (text?: string) => {
      socket.destroy();
      resolve(text);
    };
    socket.once('connect', () => answer());
    socket.once('timeout', () => answer('no answer'));
    socket.once('error', (error) => answer(errorCode(error) ?? error.message));
  });
}
