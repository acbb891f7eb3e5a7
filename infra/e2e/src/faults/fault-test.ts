import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSeed } from '@sluice/testing';

export interface FaultTest {
  name: string;
  /** What is done, and what must hold. One line. */
  description: string;
  run(context: FaultContext): Promise<void>;
}

export interface FaultContext {
  /** A folder of its own, which is removed afterwards. */
  directory: string;
  seed: number;
  log: (line: string) => void;
  /** Everything ends when it is aborted. */
  signal?: AbortSignal | undefined;
  report: Report;
}

const mostTold = 3;

/** What a fault test finds out. */
export class Report {
  /** What was measured, in the order in which it is shown. */
  readonly figures: [name: string, value: string][] = [];
  /** What must not have happened, in words; none where all is well. */
  readonly failures: string[] = [];
  readonly #prefix: string;

  /** @param into where its figures and failures go, each after the prefix. */
  constructor(prefix = '', into?: Report) {
    this.#prefix = prefix;
    if (into) ({ figures: this.figures, failures: this.failures } = into);
  }

  /** The part of this report that one of several faults writes: its name comes before each figure and failure. */
  of(name: string): Report {
    return new Report(`${name}: `, this);
  }

  figure(name: string, value: string | number): void {
    this.figures.push([this.#prefix + name, String(value)]);
  }

  failIf(isWrong: boolean, inWords: string): void {
    if (isWrong) this.failures.push(this.#prefix + inWords);
  }

  /** There must be none of these. The first few are told. */
  failForEach<T>(wrong: readonly T[], inWords: (one: T) => string): void {
    this.failures.push(...wrong.slice(0, mostTold).map((one) => this.#prefix + inWords(one)));
  }

  /** The same, with how many there are as a figure. */
  none<T>(name: string, wrong: readonly T[], inWords: (one: T) => string): void {
    this.figure(name, wrong.length);
    this.failForEach(wrong, inWords);
  }

  describe({ name, description }: Pick<FaultTest, 'name' | 'description'>): string {
    const width = Math.max(...this.figures.map(([figure]) => figure.length));
    return [
      '',
      `${name}: ${description}`,
      ...this.figures.map(([figure, value]) => `  ${figure.padEnd(width)}  ${value}`),
      ...(this.failures.length > 0 ? ['  FAILED', ...this.failures.map((failure) => `  ${failure}`)] : ['  passed']),
      '',
    ].join('\n');
  }
}

interface RunOptions extends Omit<FaultContext, 'directory' | 'report'> {
  /** Whether the folder with the logs of all processes stays. */
  keep?: boolean;
}

/** Runs a fault test in a folder of its own. */
export async function runFault(test: FaultTest, { keep, ...context }: RunOptions): Promise<Report> {
  const directory = await mkdtemp(join(process.env.TEST_STORES_FOLDER ?? tmpdir(), `sluice-${test.name}-`));
  const report = new Report();
  report.figure('seed', context.seed);
  try {
    await test.run({ ...context, directory, report });
    return report;
  } finally {
    if (keep) context.log(`logs are in ${directory}`);
    else await rm(directory, { recursive: true, force: true });
  }
}

/** The same for a test of jest: shows the figures, and gives the failures. `SEED` repeats the choices of a run. */
export async function failuresOfRun(test: FaultTest): Promise<string[]> {
  const report = await runFault(test, { seed: readSeed(process.env.SEED), log: () => undefined });
  process.stdout.write(report.describe(test));
  return report.failures;
}
