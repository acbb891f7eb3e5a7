import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Interrupted } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** Lines of standard input; a person is asked for each. */
export interface Lines {
  isAsked: boolean;
  /** No echo for a secret. Empty at the end of the input. @throws {Interrupted} at Ctrl-C. */
  next(question: string, isSecret?: boolean): Promise<string>;
  close(): void;
}

export function openLines({ stdin, stderr, signal }: Terminal): Lines {
  const isAsked = stdin.isTTY === true;
  let isHidden = false;
  let isInterrupted = false;
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      if (!isHidden) stderr.write(chunk);
      done();
    },
  });
  // Without a history, the arrow keys cannot bring back a key.
  const reader = createInterface({ input: stdin, output, terminal: isAsked, historySize: 0, signal });
  // While lines are edited, the terminal sends Ctrl-C as a key and not as a signal.
  reader.on('SIGINT', () => {
    isInterrupted = true;
    reader.close();
  });
  // Keeps lines that are pasted together until they are asked for.
  const lines = reader[Symbol.asyncIterator]();
  return {
    isAsked,
    async next(question, isSecret = false) {
      if (isAsked) {
        // Echo changes before the question appears, because a person may type at once.
        isHidden = isSecret;
        reader.setPrompt(question);
        reader.prompt();
        if (isSecret) stderr.write(question);
      }
      const line = await lines.next();
      // Without echo, or at the end of the input, the cursor is still behind the question.
      if (isAsked && (line.done || isSecret)) stderr.write('\n');
      signal.throwIfAborted();
      if (isInterrupted) throw new Interrupted('SIGINT');
      return line.value ?? '';
    },
    close: () => reader.close(),
  };
}
