import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchmarkContext } from '../benchmark.ts';
import { readThreadTimes } from '../cpu/threads.ts';
import { startProgram } from '../processes/owned-process.ts';
import type { Answers, AttackTask } from './attackers.process.ts';

export interface HostileRequest extends Omit<AttackTask, 'bodyBase64'> {
  name: string;
  body: Buffer;
}

/** Measures while attackers send, which are processes of their own. @returns what they were answered. */
export async function attackDuring(
  { directory, signal }: BenchmarkContext,
  { name: _, body, ...request }: HostileRequest,
  measure: () => Promise<void>,
): Promise<Answers> {
  const [taskFile, logFile] = [join(directory, 'attack.json'), join(directory, 'attackers.log')];
  const task: AttackTask = { ...request, bodyBase64: body.toString('base64') };
  await writeFile(taskFile, JSON.stringify(task), { mode: 0o600 });
  const file = join(import.meta.dirname, 'attackers.process.ts');
  await using attackers = await startProgram({ file, args: [taskFile], logFile, signal });
  await attackers.nextLine(); // it attacks
  await measure();
  attackers.hangUp();
  return JSON.parse(await attackers.nextLine(60_000));
}

const idlePart = 0.05;
const longestWork = 30;

/** Waits until the process has done what an attack left, because it would disturb the next measurement. */
export async function untilIdle(pid: number, signal: AbortSignal): Promise<void> {
  for (let second = 0; second < longestWork; second += 1) {
    const { main } = await readThreadTimes(pid);
    await sleep(1000, undefined, { signal });
    if ((await readThreadTimes(pid)).main - main < idlePart * 1e9) return;
  }
}
