import type { Json } from '@sluice/vault';

/** Returns one result for each value. */
export type DetokenizeEach<Answer> = (values: readonly Json[]) => Promise<readonly Answer[]>;

/**
 * If a batch fails, each value is asked for alone. Calls run one after another, because many results would fill memory.
 */
export function detokenizeTogether<Answer>(detokenizeEach: DetokenizeEach<Answer>): (value: Json) => Promise<Answer> {
  let waiting: { value: Json; resolve: (answer: Promise<Answer>) => void }[] = [];
  let isAtWork = false;

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const values = batch.map(({ value }) => value);
      const together = batch.length > 1 ? await detokenizeEach(values).catch(() => undefined) : undefined;
      for (const [index, { value, resolve }] of batch.entries()) {
        const answer = together ? Promise.resolve(together[index] as Answer) : alone(value);
        resolve(answer);
        await answer.catch(() => {}); // its caller has the error
      }
    }
    isAtWork = false;
  }

  async function alone(value: Json): Promise<Answer> {
    const [answer] = await detokenizeEach([value]);
    return answer as Answer;
  }

  return (value) =>
    new Promise((resolve) => {
      waiting.push({ value, resolve });
      if (isAtWork) return;
      isAtWork = true;
      // Parallel calls of the code arrive in the same iteration of the event loop
      setImmediate(() => void work());
    });
}
