import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

export interface ClientCall {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

export interface Client {
  /** As in the table of the root README. */
  name: string;
  /** False for one that only sends the bytes that the client does. */
  isReal: boolean;
  /** Sends the call twice, one after the other, as one user would. @returns the statuses. */
  callTwice(call: ClientCall): Promise<number[]>;
}

export const succeeds = (command: string, ...parameters: string[]): boolean =>
  spawnSync(command, parameters).status === 0;

/** A program that makes both calls and prints a status a line. */
export function byProgram(name: string, program: string, parametersOf: (call: ClientCall) => string[]): Client {
  return {
    name,
    isReal: true,
    async callTwice(call) {
      const { stdout } = await promisify(execFile)(program, parametersOf(call));
      return stdout.trim().split('\n').map(Number);
    },
  };
}

/** URL, method, body, and headers with their values. */
export const inOrder = ({ url, method, headers, body }: ClientCall) => [
  ...[url, method, body],
  ...Object.entries(headers).flat(),
];
