/**
 * Ends the session of a `sluice run` that has ended, however it ended. It reads the session from a pipe that closes with
 * `sluice run`, has a session of processes of its own, so that no terminal signals it, and ignores the signals that end
 * a group of processes. Exit code: 0 if the session has ended, or there is none; 1 if that is not known.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Sluice, SluiceError } from '@sluice/sdk';
import type { GuardedSession } from './watchdog.ts';

const tryForMs = 30_000;
const pauseMs = 500;

for (const name of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(name, () => undefined);
const [session, authorized] = await readLines();
if (session !== undefined && !(await endSession(JSON.parse(session), authorized !== undefined))) process.exitCode = 1;

/** The session, and a second line once it is authorized. */
async function readLines(): Promise<string[]> {
  let text = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  // A pipe that breaks is closed, too.
  process.stdin.on('error', () => undefined);
  process.stdout.write('ready\n');
  await once(process.stdin, 'close');
  return text.split('\n').filter((line) => line !== '');
}

/**
 * Until the session is authorized its key is refused. So a refusal means that it has ended only if it was authorized;
 * otherwise the authorization may still be on its way.
 */
async function endSession({ url, headerPrefix, key }: GuardedSession, isAuthorized: boolean): Promise<boolean> {
  const { sessions } = new Sluice({ baseUrl: url, apiKey: key, headerPrefix });
  const deadline = performance.now() + tryForMs;
  while (performance.now() < deadline) {
    try {
      await sessions.deleteSelf({ timeoutMs: 5000, retries: 0 });
      return true;
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      if (isAuthorized && error.status === 401) return true;
    }
    await delay(pauseMs);
  }
  return false;
}
