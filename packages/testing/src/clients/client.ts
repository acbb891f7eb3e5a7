import { spawnSync } from 'node:child_process';

export interface ClientCall {
  url: string;
  method: string;
  headers: Record<string, string>;
  /** Empty where there is none. */
  body: string;
}

/** A client that people have. */
export interface Client {
  /** As the table in the root README names it. */
  name: string;
  /** Whether the client itself runs, or somebody who sends what it does. */
  isReal: boolean;
  /** Sends the call twice, one after the other, as one user of the client, and gives the statuses. */
  callTwice(call: ClientCall): Promise<number[]>;
}

export const succeeds = (command: string, ...parameters: string[]): boolean =>
  spawnSync(command, parameters).status === 0;

/** The statuses that a program prints, one a line. */
export const statusesOf = ({ stdout }: { stdout: string }): number[] => stdout.trim().split('\n').map(Number);
