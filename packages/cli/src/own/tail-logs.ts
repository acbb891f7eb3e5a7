import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '@sluice/sdk';
import { escapeLine } from '../output/escape.ts';
import { readAll } from '../read-all.ts';
import { type Following, printLine, tail, unlessAway } from './tail.ts';

const intervalMs = 1_000;

/** Disclosures are written in batches, so a row may appear after a younger one. */
const latestMs = 30_000;

export const tailLogs = tail({
  words: ['logs', 'tail'],
  summary: 'Follow the audit log until Ctrl-C (log:read)',
  notes: 'Without a terminal, each row is a line of JSON. The exit code at Ctrl-C is 130.',
  method: 'logs.list',
  without: ['page', 'size', 'start', 'start_date', 'end_date'],
  newest: 'newest N rows',
  async follow(following) {
    const { sluice, query, last, terminal } = following;
    const first = await sluice.logs.list({ ...query, size: last }, { signal: terminal.signal }).page();
    const seen = new Map(await rowsBefore(first.data, following));
    await show(first.data, seen, following);
    for (;;) {
      await wait(intervalMs, undefined, { signal: terminal.signal });
      await show(await unseenRows(following, seen), seen, following);
    }
  },
});

/**
 * Rows older than the newest N that every later look would read again, with their times. They are read before anything is
 * shown, so what happens after that is never among them.
 */
async function rowsBefore(first: readonly Log[], following: Following): Promise<[string, string][]> {
  const [oldest] = first.map(({ created_at }) => created_at).sort();
  if (oldest === undefined || first.length < following.last) return [];
  const rows = await unseenRows(following, new Map(first.map(({ id, created_at }) => [id, created_at])));
  return rows.filter(({ created_at }) => created_at < oldest).map(({ id, created_at }) => [id, created_at]);
}

/** Reads from shortly before the newest row, by the service's clock, and waits for an unavailable service. */
async function unseenRows({ sluice, query, terminal }: Following, seen: Map<string, string>): Promise<Log[]> {
  const newest = [...seen.values()].sort().at(-1);
  const from = newest === undefined ? {} : { start_date: new Date(Date.parse(newest) - latestMs).toISOString() };
  const read = () => readAll((size) => sluice.logs.list({ ...query, ...from, size }, { signal: terminal.signal }));
  return (await unlessAway(terminal, read)) ?? [];
}

/** Oldest first. Forgets rows that cannot appear again. */
async function show(rows: readonly Log[], seen: Map<string, string>, following: Following): Promise<void> {
  const isNew = rows.filter(({ id }) => !seen.has(id)).sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  for (const row of isNew) {
    seen.set(row.id, row.created_at);
    await printLine(following, row, lineOf);
  }
  const newest = [...seen.values()].sort().at(-1) ?? '';
  const before = Date.parse(newest) - 2 * latestMs;
  for (const [id, at] of seen) if (Date.parse(at) < before) seen.delete(id);
}

function lineOf({ created_at, operation, entity_type, entity_id, message, actor_id }: Log): string {
  const what = `${operation} ${entity_type} ${entity_id}`;
  return escapeLine(`${created_at}  ${what}  ${message}${actor_id ? `  by ${actor_id}` : ''}`);
}
