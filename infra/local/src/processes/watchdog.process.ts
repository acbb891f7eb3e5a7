// Ends the processes that the launcher started when the launcher ends, for whatever reason. It reads lines "<pid>
// <signal>" from a pipe; the end of the pipe means that the launcher has ended. It then ends processes that still run,
// and itself.
import { createInterface } from 'node:readline';
import { endProcess } from './end-process.ts';
import { processIdentity } from './process-identity.ts';

const deadlineMs = 10_000;
const watched: { pid: number; identity: string; signal: NodeJS.Signals }[] = [];

try {
  for await (const line of createInterface({ input: process.stdin })) {
    const [pid, signal] = line.split(' ');
    const identity = processIdentity(Number(pid));
    if (identity !== undefined) watched.push({ pid: Number(pid), identity, signal: signal as NodeJS.Signals });
  }
} finally {
  await Promise.allSettled(watched.map(({ pid, ...how }) => endProcess(pid, { ...how, deadlineMs })));
}
