import type { ChildProcess } from 'node:child_process';

/** Takes each process that a test starts, and ends it after that test, because one that failed leaves it running. */
export function useChildren(): <C extends ChildProcess>(child: C) => C {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });
  return (child) => {
    children.push(child);
    return child;
  };
}
