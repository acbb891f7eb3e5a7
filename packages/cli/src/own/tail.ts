import { ConnectionError, type Sluice, SluiceError } from '@sluice/sdk';
import { type Command, type Input, type Option, textOf } from '../command.ts';
import { UsageError } from '../failure.ts';
import { commands } from '../generated/commands.gen.ts';
import { toSafeJson } from '../output/escape.ts';
import { isForPeople, tell, write } from '../output/print.ts';
import { connect } from '../profile/connect.ts';
import type { Terminal } from '../terminal.ts';

export interface Following {
  sluice: Sluice;
  /** The filters that were typed. */
  query: Record<string, string>;
  /** How many to show at first. */
  last: number;
  input: Input;
  terminal: Terminal;
}

interface Tail extends Pick<Command, 'words' | 'summary' | 'notes'> {
  /** The operation whose filters it takes. */
  method: string;
  /** Parameters of that operation that are no filters. */
  without: readonly string[];
  /** What `--last` counts. */
  newest: string;
  follow(following: Following): Promise<void>;
}

/** A command that follows a list until Ctrl-C. */
export function tail({ method, without, newest, follow, ...texts }: Tail): Command {
  const query = commands.find((one) => one.method === method)?.query ?? [];
  const filters = query
    .filter(({ name }) => !without.includes(name))
    .map(({ name, description }) => ({ name, option: name.replaceAll('_', '-'), description }));
  return {
    ...texts,
    arguments: [],
    options: {
      last: { type: 'string', value: 'N', description: `start with the ${newest}, at most 100 (default: 10)` },
      ...Object.fromEntries(
        filters.map(({ option, description }) => [option, { type: 'string', value: 'VALUE', description } as Option]),
      ),
    },
    async run(input, terminal) {
      const last = Number(textOf(input, 'last') ?? 10);
      if (!Number.isInteger(last) || last < 1 || last > 100) throw new UsageError('--last must be from 1 to 100');
      const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
      const typed = filters.flatMap(({ name, option }) => {
        const value = textOf(input, option);
        return value === undefined ? [] : [[name, value]];
      });
      await follow({ sluice, query: Object.fromEntries(typed), last, input, terminal });
    },
  };
}

/** Undefined if the service is unavailable; throws every other refusal. */
export async function unlessAway<T>(terminal: Terminal, attempt: () => Promise<T>): Promise<T | undefined> {
  try {
    return await attempt();
  } catch (error) {
    terminal.signal.throwIfAborted();
    const isAway =
      error instanceof ConnectionError || (error instanceof SluiceError && [429, 503].includes(error.status ?? 0));
    if (!isAway) throw error;
    tell(terminal, `${error.message}; trying again`);
    return undefined;
  }
}

/** A line for people, or a line of JSON. */
export async function printLine<T>({ input, terminal }: Following, row: T, lineOf: (row: T) => string): Promise<void> {
  const isShownAsLine = isForPeople(terminal, input.values.json === true);
  await write(terminal.stdout, `${isShownAsLine ? lineOf(row) : toSafeJson(row)}\n`);
}
