import type { Terminal } from '../terminal.ts';

/** A progress line that is erased on disposal. */
export interface Progress extends Disposable {
  show(text: string): void;
}

/** Writes to standard error if it is a terminal and `isFree` of other output; otherwise writes nothing. */
export function openProgress({ stderr }: Terminal, isFree = true): Progress {
  const isShown = stderr.isTTY === true && isFree;
  let last = '';
  const replaceBy = (text: string) => {
    if (!isShown || text === last) return;
    stderr.write(`\r\u001b[K${text}`);
    last = text;
  };
  return { show: replaceBy, [Symbol.dispose]: () => replaceBy('') };
}
