/**
 * Tells the main thread which task a thread is at. It lies in shared memory, because a thread cannot be asked while a
 * built-in of QuickJS keeps it busy.
 */
export interface TaskMark {
  /** Opens the same mark in another thread. */
  readonly memory: SharedArrayBuffer;
  /** The thread begins a task; `cpuMsBefore` is its CPU time so far. */
  begin(taskNumber: number, cpuMsBefore: number): void;
  /** The CPU time that the thread had used before the task; undefined when it is at another task. */
  cpuMsBefore(taskNumber: number): number | undefined;
}

/** Task numbers are below this, and then begin at 0 again. */
export const taskNumbers = 2 ** 31;

const taskField = 0;
const cpuField = 1;

/** A new mark, or the one in this memory. No task has the number -1. */
export function openTaskMark(memory?: SharedArrayBuffer): TaskMark {
  const fields = new Int32Array(memory ?? new SharedArrayBuffer(8));
  if (!memory) fields.fill(-1);
  return {
    memory: fields.buffer,
    begin: (taskNumber, cpuMsBefore) => {
      // This order keeps a reader from pairing the number of a task with the time of an older one.
      Atomics.store(fields, taskField, -1);
      Atomics.store(fields, cpuField, Math.floor(cpuMsBefore));
      Atomics.store(fields, taskField, taskNumber);
    },
    cpuMsBefore: (taskNumber) => {
      if (Atomics.load(fields, taskField) !== taskNumber) return undefined;
      const cpuMs = Atomics.load(fields, cpuField);
      return Atomics.load(fields, taskField) === taskNumber ? cpuMs : undefined;
    },
  };
}
