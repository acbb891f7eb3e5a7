import type { TransformTask } from './transform-task.ts';

/** Runs of one version of one transform that take their turn in a thread together. The first one speaks for all. */
export type Turn<R> = [R, ...R[]];

interface Waiting<R> {
  turn: Turn<R>;
  /** Milliseconds, as of `performance.now()`. */
  since: number;
}

/** Runs that come while others of their version wait join them. */
export interface Turns<R> {
  /** Joins a turn of at most `most` runs, or begins one: it is handed on in the next phase of the event loop. */
  add(run: R, most: number): void;
}

/** Whoever joins waits no longer than the first: what has waited for long may be about to be refused. */
const joinMs = 100;
/** A larger one may take longer than the runs of its code that went before. */
const largestArgs = 2 ** 16;

/**
 * `start` gets each turn once, and calls `close` when its runs are to be sent: until then others may join.
 */
export function newTurns<R extends { task: TransformTask }>(
  start: (turn: Turn<R>, close: () => void) => void,
): Turns<R> {
  const open = { request: new Map<object, Waiting<R>>(), response: new Map<object, Waiting<R>>() };

  return {
    add: (run, most) => {
      const { version, kind, argsJson, message, once } = run.task;
      if (version === undefined || most === 1 || once || argsJson.length + (message?.text.length ?? 0) > largestArgs) {
        start([run], () => {});
        return;
      }
      const ofKind = open[kind];
      const waiting = ofKind.get(version);
      const now = performance.now();
      if (waiting && waiting.turn.length < most && now - waiting.since < joinMs) {
        waiting.turn.push(run);
        return;
      }
      const turn: Turn<R> = [run];
      ofKind.set(version, { turn, since: now });
      const close = () => {
        if (ofKind.get(version)?.turn === turn) ofKind.delete(version);
      };
      // Behind all that this phase of the event loop brings
      setImmediate(() => start(turn, close));
    },
  };
}
