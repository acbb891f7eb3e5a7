import type { Terminal } from '../terminal.ts';

export interface Progress extends Disposable {
  show(text: string): void;
}

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
