/**
 * Which task a thread is at, in memory that it shares with the main thread: it cannot be asked while a built-in of
 * QuickJS keeps it busy.
 */
export interface TaskMark {
  /** For the other side. */
  readonly memory: SharedArrayBuffer;
  /** The thread begins a task, having used so much CPU time before. */
  begin(taskNumber: number, cpuMsBefore: number): void;
  /** The CPU time, in milliseconds, of the thread before the task; undefined when it is at another. */
  cpuMsBefore(taskNumber: number): number | undefined;
}

/** Task numbers count up to this, and then from 0 again. */
export const taskNumbers = 2 ** 31;

const taskField = 0;
const cpuField = 1;

/** A mark, or the other side of one. No task has the number -1. */
export function openTaskMark(memory?: SharedArrayBuffer): TaskMark {
  const fields = new Int32Array(memory ?? new SharedArrayBuffer(8));
  if (!memory) fields.fill(-1);
  return {
    memory: fields.buffer,
    begin: (taskNumber, cpuMsBefore) => {
      // In this order a number that is read is never beside the time of an older task.
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
