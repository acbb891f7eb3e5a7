import type { TransformPool } from './pool.ts';
import type { ConsoleLine, TransformResult, TransformTask, TransformUsage } from './transform-task.ts';

/** Hides secrets in what code says. The configuration, as JSON text, is one of them. */
export interface Redaction {
  lines(
    lines: readonly ConsoleLine[],
    configurationJson: string,
  ): readonly ConsoleLine[] | Promise<readonly ConsoleLine[]>;
  /** Returns the error of a run, redacted if the code threw it. */
  error(error: unknown, configurationJson: string): unknown;
}

/** For authors, to whom their code may say everything. */
export const nothingHidden: Redaction = { lines: (lines) => lines, error: (error) => error };

export interface CodeRun extends TransformTask {
  redaction: Redaction;
  /** Gets what the code printed, redacted, before the run settles. Not called if it printed nothing. */
  onConsole?: ((lines: readonly ConsoleLine[]) => void) | undefined;
}

/**
 * Runs the code of a Proxy, of a reactor or of a trial. The redaction is awaited before the run settles, so that the
 * limits on runs also bound its work.
 * @throws what {@link TransformPool.run} throws, redacted.
 */
export async function runCode(
  pool: Pick<TransformPool, 'run'>,
  { redaction, onConsole, ...task }: CodeRun,
): Promise<TransformResult> {
  let usage: TransformUsage | undefined;
  const onEnd = (used: TransformUsage) => {
    usage = used;
    task.onEnd?.(used);
  };
  const showConsole = async () => {
    if (!usage || usage.console.length === 0 || !onConsole) return;
    onConsole(await redaction.lines(usage.console, usage.configurationJson));
  };
  let result: TransformResult;
  try {
    result = await pool.run({ ...task, onEnd });
  } catch (error) {
    await showConsole();
    throw await redaction.error(error, usage?.configurationJson ?? '{}');
  }
  await showConsole();
  return result;
}
