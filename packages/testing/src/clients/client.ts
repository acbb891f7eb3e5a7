import { spawnSync } from 'node:child_process';

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

export const statusesOf = ({ stdout }: { stdout: string }): number[] => stdout.trim().split('\n').map(Number);
