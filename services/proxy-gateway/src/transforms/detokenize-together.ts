import type { Json } from '@sluice/vault';

/** Detokenizes all of the values or none. */
export type DetokenizeEach = (values: readonly Json[]) => Promise<readonly Json[]>;

/**
 * Detokenizes concurrently requested values with one call, so one query and one disclosure. If that fails, each value
 * is requested on its own, so that an unknown token does not affect the others.
 */
export function detokenizeTogether(detokenizeEach: DetokenizeEach): (value: Json) => Promise<Json> {
  let waiting: { value: Json; resolve: (answer: Promise<Json>) => void }[] = [];

  async function flush(): Promise<void> {
    const batch = waiting;
    waiting = [];
    const values = batch.map(({ value }) => value);
    const together = batch.length > 1 ? await detokenizeEach(values).catch(() => undefined) : undefined;
    batch.forEach(({ value, resolve }, index) => {
      resolve(together ? Promise.resolve(together[index] ?? null) : alone(value));
    });
  }

  async function alone(value: Json): Promise<Json> {
    const [answer] = await detokenizeEach([value]);
    return answer ?? null;
  }

  return (value) =>
    new Promise((resolve) => {
      waiting.push({ value, resolve });
      // Calls that the code makes in parallel arrive in the same turn.
      if (waiting.length === 1) setImmediate(() => void flush());
    });
}
