import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** `fg` goes to a whole group, and may reach us a moment before the command. */
const settledMs = 50;

/**
 * Stops this process when the command has stopped, so that the shell gives the prompt, and wakes the command when this
 * process goes on. Ctrl-Z stops both by itself. This is for a command that stops nobody but itself, such as a shell by
 * `suspend`, behind which a terminal would otherwise hang. On Linux only, which says in files that a
 * process has stopped. @returns what ends it.
 */
export function followStops(pid: number): () => void {
  if (process.platform !== 'linux') return () => undefined;
  let isDue = false;
  let isLooking = false;
  // One at a time: a second look, begun before we were stopped, would end after it, too early for the command to be awake.
  const look = async () => {
    isDue = true;
    if (isLooking) return;
    isLooking = true;
    while (isDue) {
      isDue = false;
      if (!(await isStopped(pid))) continue;
      await delay(settledMs);
      if (isFollowing && (await isStopped(pid))) process.kill(process.pid, 'SIGSTOP');
    }
    isLooking = false;
  };
  const onChange = () => void look();
  const onContinue = () => {
    if (isFollowing) process.kill(pid, 'SIGCONT');
  };
  let isFollowing = true;
  process.on('SIGCHLD', onChange).on('SIGCONT', onContinue);
  // It may have stopped before we listened.
  onChange();
  return () => {
    isFollowing = false;
    process.off('SIGCHLD', onChange).off('SIGCONT', onContinue);
  };
}

async function isStopped(pid: number): Promise<boolean> {
  // A command that has ended has no file.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // Behind its name in brackets, which may contain anything.
  return /\) T \d+ [^)]*$/.test(stat);
}
