import type { Json } from '@sluice/vault';

/** Detokenizes one value. */
export type Detokenize = (value: Json) => Promise<Json>;

/**
 * Values that are asked for at once are detokenized by one call: one query, one note of the disclosure. Where that
 * fails each is asked for alone, so that an unknown token spoils nobody else's value.
 */
export function detokenizeTogether(detokenize: Detokenize): Detokenize {
  let waiting: { value: Json; resolve: (answer: Promise<Json>) => void }[] = [];

  async function flush(): Promise<void> {
    const batch = waiting;
    waiting = [];
    const together = batch.length > 1 ? await asOne(batch.map(({ value }) => value)) : undefined;
    batch.forEach(({ value, resolve }, index) => {
      resolve(together ? Promise.resolve(together[index] ?? null) : detokenize(value));
    });
  }

  async function asOne(values: Json[]): Promise<Json[] | undefined> {
    const answer = await detokenize(values).catch(() => undefined);
    return Array.isArray(answer) && answer.length === values.length ? answer : undefined;
  }

  return (value) =>
    new Promise((resolve) => {
      waiting.push({ value, resolve });
      // Calls that the code made side by side arrive in the same turn.
      if (waiting.length === 1) setImmediate(() => void flush());
    });
}
