import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Interrupted } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** Lines of standard input; where a person types them, each is asked for. */
export interface Lines {
  /** Whether a person is asked. */
  isAsked: boolean;
  /**
   * The next line, without showing what is typed where it is a secret. Empty at the end of the input, which is Ctrl-D.
   * @throws {Interrupted} at Ctrl-C.
   */
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
  // Without a history, no key can be brought back with the arrow keys.
  const reader = createInterface({ input: stdin, output, terminal: isAsked, historySize: 0, signal });
  // The terminal gives Ctrl-C as a key, not as a signal, while lines are edited.
  reader.on('SIGINT', () => {
    isInterrupted = true;
    reader.close();
  });
  // Lines that are pasted at once wait here, until they are asked for.
  const lines = reader[Symbol.asyncIterator]();
  return {
    isAsked,
    async next(question, isSecret = false) {
      if (isAsked) {
        // Before the question is there: who sees it may type at once. It lasts until the next one, against typing ahead.
        isHidden = isSecret;
        reader.setPrompt(question);
        reader.prompt();
        if (isSecret) stderr.write(question);
      }
      const line = await lines.next();
      // Whoever ends the input, or types a secret, is left on the line of the question.
      if (isAsked && (line.done || isSecret)) stderr.write('\n');
      signal.throwIfAborted();
      if (isInterrupted) throw new Interrupted('SIGINT');
      return line.value ?? '';
    },
    close: () => reader.close(),
  };
}
