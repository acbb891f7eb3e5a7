import type { Answer, CallOptions } from '@sluice/testing';
import fc from 'fast-check';

export interface Step {
  method: string;
  path: string;
  options?: CallOptions;
  expected: Expected;
  /** Tells the model what only the service knows: ids, keys, dates. */
  learn?(body: Answer['body']): void;
}

/** Either the whole answer, or a 400 that names at least one of these members and no other. */
export type Expected = { status: number; body: unknown } | { faults: readonly string[] };

type Send = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

export interface ModelRun<Command> {
  step(command: Command): Step;
  send: Send;
}

interface Agreement<Command> {
  command: fc.Arbitrary<Command>;
  /** Run before each list, so that there is something to work with. */
  first: readonly Command[];
  begin(): Promise<ModelRun<Command>>;
}

export function agreement<Command>({ command, first, begin }: Agreement<Command>) {
  const runnable = command.map((one) => ({
    check: () => true,
    run: (_model: object, real: ModelRun<Command>) => follow(real, one),
    toString: () => JSON.stringify(one),
  }));
  return fc.asyncProperty(fc.commands([runnable], { maxCommands: 20, size: 'max' }), async (commands) => {
    const real = await begin();
    for (const one of first) await follow(real, one);
    await fc.asyncModelRun(() => ({ model: {}, real }), commands);
  });
}

async function follow<Command>({ step, send }: ModelRun<Command>, command: Command): Promise<void> {
  const { method, path, options, expected, learn } = step(command);
  const answer = await send(method, path, options);
  compare(answer, expected);
  learn?.(answer.body);
}

function compare({ status, body }: Answer, expected: Expected): void {
  if ('status' in expected) {
    expect({ status, body }).toEqual(expected);
    return;
  }
  const paths = Object.keys(body.errors ?? {});
  expect({ status, foreseen: expected.faults, named: paths }).toEqual({
    status: 400,
    foreseen: expect.arrayContaining(paths),
    named: expect.arrayContaining([expect.any(String)]),
  });
}

export function problem(status: number, title: string): Expected {
  return { status, body: expect.objectContaining({ status, title }) };
}

export const notFound = problem(404, 'Not found');
export const noContent: Expected = { status: 204, body: '' };

/** Where there are fewer, an id that does not exist. */
export function idAt(created: readonly { id: string }[], n: number): string {
  return created[n]?.id ?? `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

export interface ListQuery {
  ids?: number[];
  name?: string;
  page?: number;
  size?: number;
}

export const listQuery: fc.Arbitrary<ListQuery> = fc.record(
  {
    ids: fc.array(fc.nat(3), { maxLength: 3 }),
    page: fc.constantFrom(1, 1, 1, 2, 3, 0),
    size: fc.constantFrom(1, 2, 2, 100, 101),
  },
  { requiredKeys: [] },
);

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function dropNulls(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

export function isName(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && [...value].length <= 200;
}

/** Newest first; within one millisecond, the greater id first. */
export function byAge(a: { created_at: string; id: string }, b: { created_at: string; id: string }): number {
  return a.created_at < b.created_at || (a.created_at === b.created_at && a.id < b.id) ? 1 : -1;
}

export function pageOf(matching: readonly unknown[], { page = 1, size = 20 }: ListQuery): Expected {
  const faults = [...(page < 1 ? ['page'] : []), ...(size > 100 ? ['size'] : [])];
  if (faults.length > 0) return { faults };
  const total = matching.length;
  const pagination = {
    total_items: total,
    page_number: page,
    page_size: size,
    total_pages: Math.ceil(total / size),
  };
  return { status: 200, body: { pagination, data: matching.slice((page - 1) * size, page * size) } };
}

export function toQuery({ ids = [], name, page, size }: ListQuery, idOf: (n: number) => string): string {
  const query = new URLSearchParams(ids.map((n) => ['id', idOf(n)]));
  for (const [key, value] of Object.entries({ name, page, size })) if (value !== undefined) query.set(key, `${value}`);
  return `?${query}`;
}
