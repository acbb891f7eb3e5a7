import { setTimeout as wait } from 'node:timers/promises';
import { ConnectionError, type ListLogsData, type Log, type Sluice, SluiceError } from '@sluice/sdk';
import { type Command, type Input, type Option, textOf } from '../command.ts';
import { UsageError } from '../failure.ts';
import { commands } from '../generated/commands.gen.ts';
import { escapeLine, toSafeJson } from '../output/escape.ts';
import { isForPeople, tell, write } from '../output/print.ts';
import { connect } from '../profile/connect.ts';
import { readAll } from '../read-all.ts';
import type { Terminal } from '../terminal.ts';

const intervalMs = 1_000;

/** Disclosures are written in batches, so a row may appear after a younger one. */
const latestMs = 30_000;

const filters = (commands.find(({ method }) => method === 'logs.list')?.query ?? []).filter(
  ({ name }) => !['page', 'size', 'start', 'start_date', 'end_date'].includes(name),
);
const optionOf = (name: string) => name.replaceAll('_', '-');

export const tailLogs: Command = {
  words: ['logs', 'tail'],
  summary: 'Follow the audit log until Ctrl-C (log:read)',
  arguments: [],
  options: {
    last: { type: 'string', value: 'N', description: 'start with the newest N rows, at most 100 (default: 10)' },
    ...Object.fromEntries(
      filters.map(({ name, description }) => [
        optionOf(name),
        { type: 'string', value: 'VALUE', description } as Option,
      ]),
    ),
  },
  notes: 'Without a terminal, each row is a line of JSON. The exit code at Ctrl-C is 130.',
  async run(input, terminal) {
    const last = Number(textOf(input, 'last') ?? 10);
    if (!Number.isInteger(last) || last < 1 || last > 100) throw new UsageError('--last must be from 1 to 100');
    const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
    const query = Object.fromEntries(filters.flatMap(({ name }) => pairOf(input, name)));
    const first = await sluice.logs.list({ ...query, size: last }, { signal: terminal.signal }).page();
    const seen = new Map<string, string>();
    await show(first.data, seen, input, terminal);
    for (;;) {
      await wait(intervalMs, undefined, { signal: terminal.signal });
      await show(await unseenRows(sluice, query, seen, terminal), seen, input, terminal);
    }
  },
};

type Query = NonNullable<ListLogsData['query']>;

function pairOf(input: Input, name: string): [string, string][] {
  const value = textOf(input, optionOf(name));
  return value === undefined ? [] : [[name, value]];
}

/** Reads from shortly before the newest row, by the service's clock, and waits for an unavailable service. */
async function unseenRows(sluice: Sluice, query: Query, seen: Map<string, string>, terminal: Terminal): Promise<Log[]> {
  const newest = [...seen.values()].sort().at(-1);
  const from = newest === undefined ? {} : { start_date: new Date(Date.parse(newest) - latestMs).toISOString() };
  try {
    return await readAll((size) => sluice.logs.list({ ...query, ...from, size }, { signal: terminal.signal }));
  } catch (error) {
    terminal.signal.throwIfAborted();
    const isAway =
      error instanceof ConnectionError || (error instanceof SluiceError && [429, 503].includes(error.status ?? 0));
    if (!isAway) throw error;
    tell(terminal, `${error.message}; trying again`);
    return [];
  }
}

/** Oldest first. Forgets rows that cannot appear again. */
async function show(rows: readonly Log[], seen: Map<string, string>, input: Input, terminal: Terminal): Promise<void> {
  const isNew = rows.filter(({ id }) => !seen.has(id)).sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  for (const row of isNew) {
    seen.set(row.id, row.created_at);
    const line = isForPeople(terminal, input.values.json === true) ? lineOf(row) : toSafeJson(row);
    await write(terminal.stdout, `${line}\n`);
  }
  const newest = [...seen.values()].sort().at(-1) ?? '';
  const before = Date.parse(newest) - 2 * latestMs;
  for (const [id, at] of seen) if (Date.parse(at) < before) seen.delete(id);
}

function lineOf({ created_at, operation, entity_type, entity_id, message, actor_id }: Log): string {
  const what = `${operation} ${entity_type} ${entity_id}`;
  return escapeLine(`${created_at}  ${what}  ${message}${actor_id ? `  by ${actor_id}` : ''}`);
}
