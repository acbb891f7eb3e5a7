import type { Json } from '@sluice/vault';

/** Detokenizes values, all or none. */
export type DetokenizeEach = (values: readonly Json[]) => Promise<readonly Json[]>;

/**
 * Values that are asked for at once are detokenized by one call: one query, one note of the disclosure. Where that
 * fails each is asked for alone, so that an unknown token spoils nobody else's value.
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
      // Calls that the code made side by side arrive in the same turn.
      if (waiting.length === 1) setImmediate(() => void flush());
    });
}
