import { setTimeout as wait } from 'node:timers/promises';
import type { Invocation } from '@sluice/sdk';
import { escapeLine } from '../output/escape.ts';
import { tell } from '../output/print.ts';
import { type Following, printLine, tail, unlessAway } from './tail.ts';

const pauseMs = 2_000;

export const tailInvocations = tail({
  words: ['invocations', 'tail'],
  summary: 'Follow invocations of Proxies and runs of reactors until Ctrl-C (log:read)',
  notes:
    'Without a terminal, each invocation is a line of JSON. If invocations are left out, their number is printed to standard error. The exit code at Ctrl-C is 130.',
  method: 'invocations.list',
  without: ['start', 'size'],
  newest: 'newest N',
  async follow(following) {
    const shown = { id: '' };
    for (;;) {
      await unlessAway(following.terminal, () => showStream(following, shown));
      await wait(pauseMs, undefined, { signal: following.terminal.signal });
    }
  },
});

/** Runs until the stream ends. @param shown the newest one, which a new stream shows again. */
async function showStream(following: Following, shown: { id: string }): Promise<void> {
  const { sluice, query, last, terminal } = following;
  const size = shown.id === '' ? last : 100;
  for await (const event of sluice.invocations.watch({ ...query, size }, { signal: terminal.signal })) {
    if (event.event === 'skipped') tell(terminal, `${event.data.skipped} left out`);
    else if (isNewer(event.id, shown.id)) {
      shown.id = event.id;
      await printLine(following, event.data, lineOf);
    }
  }
}

/** Ids are milliseconds and a number within them. */
function isNewer(id: string, than: string): boolean {
  const [[ms = 0, n = 0], [thanMs = 0, thanN = -1]] = [id.split('-').map(Number), than.split('-').map(Number)];
  return ms > thanMs || (ms === thanMs && n > thanN);
}

function lineOf({ at, method, status, destination_status, refused_by, detail, guard_hits, ...invocation }: Invocation) {
  const { proxy_id, reactor_id, stages_ms, trace_id } = invocation;
  const called = reactor_id === undefined ? `proxy ${proxy_id}` : `reactor ${reactor_id}`;
  const answered = destination_status === undefined ? `${status}` : `${status} (destination ${destination_status})`;
  const why = refused_by === undefined ? '' : `  ${refused_by}${detail === undefined ? '' : ` (${detail})`}`;
  const found = guard_hits === undefined ? '' : `  guard found ${guard_hits}`;
  return escapeLine(`${at}  ${method}  ${answered}${why}${found}  ${stages_ms.total} ms  ${called}  trace ${trace_id}`);
}
