import type { Readable, Writable } from 'node:stream';

export interface Terminal {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C or by the system, with `Interrupted` as its reason. */
  signal: AbortSignal;
}
