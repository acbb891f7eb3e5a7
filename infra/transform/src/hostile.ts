import { type GoodTraffic, type HostileRow, runHostilePrograms } from '@sluice/sandbox/hostile';
import type { Output } from './test-transform.ts';

/**
 * Runs the hostile programs and prints a line for each. @returns whether all were stopped and nothing else was lost.
 */
export async function runHostile(output: Output): Promise<boolean> {
  output.out(line('program', 'stopped by', 'ms', 'answer'));
  const report = await runHostilePrograms({ onRow: (row) => output.out(lineOf(row)) });
  const { rows, limits, alone, beside, faults } = report;
  const answered = rows.filter(({ stoppedBy }) => stoppedBy === 'answered');
  const late = rows.filter(({ durationMs }) => durationMs > limits.wallMs + 300);
  output.out(`
${rows.length} programs, ${answered.length} not stopped, ${late.length} later than the wall limit + 300 ms, ${faults} threads lost
limits: ${limits.cpuMs} ms of CPU time, ${limits.wallMs} ms in all, ${limits.heapBytes / 2 ** 20} MiB of heap
good traffic alone:       ${traffic(alone)}
good traffic beside them: ${traffic(beside)}`);
  return answered.length + late.length + faults + beside.lost === 0;
}

const lineOf = ({ program, stoppedBy, durationMs, detail }: HostileRow) =>
  line(program, stoppedBy, durationMs.toFixed(0), detail.replaceAll('\n', ' ').slice(0, 80));

const line = (program: string, stoppedBy: string, ms: string, answer: string) =>
  `${program.padEnd(46)}  ${stoppedBy.padEnd(11)}  ${ms.padStart(5)}  ${answer}`;

const traffic = ({ invocations, lost, p50Ms, p99Ms }: GoodTraffic) =>
  `${invocations} invocations, ${lost} lost, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
