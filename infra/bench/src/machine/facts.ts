import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

/** What figures depend on, one fact in each line. Read it before anything is pinned. */
export function machineFacts(): string[] {
  const [oneMinute = 0] = loadavg();
  const memory = (totalmem() / 2 ** 30).toFixed(1);
  return [
    `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${memory} GiB`,
    `${type()} ${release()}, Node ${process.version}`,
    `load average ${oneMinute.toFixed(2)}${oneMinute > 0.5 ? ': the machine is busy, figures are not to be trusted' : ''}`,
  ];
}
