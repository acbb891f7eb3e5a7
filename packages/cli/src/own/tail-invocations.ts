import { setTimeout as wait } from 'node:timers/promises';
import {
  ConnectionError,
  type Invocation,
  type ListInvocationsData,
  type Sluice,
  SluiceError,
  type StreamEvent,
} from '@sluice/sdk';
import { type Command, type Input, type Option, textOf } from '../command.ts';
import { UsageError } from '../failure.ts';
import { commands } from '../generated/commands.gen.ts';
import { escapeLine, toSafeJson } from '../output/escape.ts';
import { isForPeople, tell, write } from '../output/print.ts';
import { connect } from '../profile/connect.ts';
import type { Terminal } from '../terminal.ts';

const pauseMs = 2_000;

const filters = (commands.find(({ method }) => method === 'invocations.list')?.query ?? []).filter(
  ({ name }) => !['start', 'size'].includes(name),
);
const optionOf = (name: string) => name.replaceAll('_', '-');

export const tailInvocations: Command = {
  words: ['invocations', 'tail'],
  summary: 'Follow invocations of Proxies and runs of reactors until Ctrl-C (log:read)',
  arguments: [],
  options: {
    last: { type: 'string', value: 'N', description: 'start with the newest N, at most 100 (default: 10)' },
    ...Object.fromEntries(
      filters.map(({ name, description }) => [
        optionOf(name),
        { type: 'string', value: 'VALUE', description } as Option,
      ]),
    ),
  },
  notes:
    'Without a terminal, each invocation is a line of JSON. The number of invocations that are left out is printed to standard error. The exit code at Ctrl-C is 130.',
  async run(input, terminal) {
    const last = Number(textOf(input, 'last') ?? 10);
    if (!Number.isInteger(last) || last < 1 || last > 100) throw new UsageError('--last must be from 1 to 100');
    const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
    const query = Object.fromEntries(filters.flatMap(({ name }) => pairOf(input, name)));
    const shown = { id: '' };
    for (;;) {
      await follow(sluice, { ...query, size: shown.id === '' ? last : 100 }, { shown, input, terminal });
      await wait(pauseMs, undefined, { signal: terminal.signal });
    }
  },
};

type Query = NonNullable<ListInvocationsData['query']>;

function pairOf(input: Input, name: string): [string, string][] {
  const value = textOf(input, optionOf(name));
  return value === undefined ? [] : [[name, value]];
}

interface Following {
  /** The newest one, which a new stream shows again. */
  shown: { id: string };
  input: Input;
  terminal: Terminal;
}

/** Runs until the stream ends. Waits for an unavailable service; throws every other refusal. */
async function follow(sluice: Sluice, query: Query, { shown, input, terminal }: Following): Promise<void> {
  try {
    for await (const event of sluice.invocations.watch(query, { signal: terminal.signal })) {
      if (event.event === 'invocation' && !isNewer(event.id, shown.id)) continue;
      if (event.event === 'invocation') shown.id = event.id;
      await show(event, input, terminal);
    }
  } catch (error) {
    terminal.signal.throwIfAborted();
    const isAway =
      error instanceof ConnectionError || (error instanceof SluiceError && [429, 503].includes(error.status ?? 0));
    if (!isAway) throw error;
    tell(terminal, `${error.message}; trying again`);
  }
}

/** Ids are milliseconds and a number within them. */
function isNewer(id: string, than: string): boolean {
  const [[ms = 0, n = 0], [thanMs = 0, thanN = -1]] = [id.split('-').map(Number), than.split('-').map(Number)];
  return ms > thanMs || (ms === thanMs && n > thanN);
}

async function show(event: StreamEvent<Invocation>, input: Input, terminal: Terminal): Promise<void> {
  if (event.event === 'skipped') return tell(terminal, `${event.data.skipped} left out`);
  const isShownAsLine = isForPeople(terminal, input.values.json === true);
  await write(terminal.stdout, `${isShownAsLine ? lineOf(event.data) : toSafeJson(event.data)}\n`);
}

function lineOf({ at, method, status, destination_status, refused_by, detail, guard_hits, ...invocation }: Invocation) {
  const { proxy_id, reactor_id, stages_ms, trace_id } = invocation;
  const called = reactor_id === undefined ? `proxy ${proxy_id}` : `reactor ${reactor_id}`;
  const answered = destination_status === undefined ? `${status}` : `${status} (destination ${destination_status})`;
  const why = refused_by === undefined ? '' : `  ${refused_by}${detail === undefined ? '' : ` (${detail})`}`;
  const found = guard_hits === undefined ? '' : `  guard found ${guard_hits}`;
  return escapeLine(`${at}  ${method}  ${answered}${why}${found}  ${stages_ms.total} ms  ${called}  trace ${trace_id}`);
}
