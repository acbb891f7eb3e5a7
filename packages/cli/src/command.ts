import type { ParseArgsConfig } from 'node:util';
import type { Terminal } from './terminal.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

export type Option = Options[string] & { description: string; value?: string };

export interface Input {
  positionals: readonly string[];
  values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  /** What stands behind `--`, for commands with `behindDashes`. */
  behindDashes?: readonly string[];
}

export interface Command {
  words: readonly string[];
  summary: string;
  /** Optional arguments are in brackets. */
  arguments: readonly string[];
  /** What must stand behind `--`, where nothing is read as an option of ours. */
  behindDashes?: string;
  options: Readonly<Record<string, Option>>;
  notes?: string;
  /** @returns the exit code; undefined means 0. */
  run(input: Input, terminal: Terminal): Promise<number | undefined>;
}

export const commonOptions = {
  json: { type: 'boolean', description: 'print JSON instead of a table, also on a terminal' },
  profile: {
    type: 'string',
    value: 'NAME',
    description: 'use keys and URL of this profile (default: SLUICE_PROFILE, or "default")',
  },
  help: { type: 'boolean', short: 'h', description: 'show this help' },
} as const satisfies Record<string, Option>;

export function textOf({ values }: Input, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function textsOf({ values }: Input, name: string): string[] {
  const value = values[name];
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
}
