/** `yes` and `no` are certain; `maybe`: it was asked for and no answer came. */
export type Knowledge = 'no' | 'maybe' | 'yes';

/** What the clients know of a token from the answers that they got. */
interface KnownToken {
  id: string;
  created: Knowledge;
  /** Created, read or used in this month. */
  active: Knowledge;
  deleted: Knowledge;
  expires: boolean;
}

/** Tokens of one request that must all be there or none. */
interface Batch {
  ids: string[];
  created: Knowledge;
}

/** What happened, as the clients saw it. */
export const emptyLedger = () => ({
  tokens: new Map<string, KnownToken>(),
  batches: [] as Batch[],
  /** The statuses that each action got; 0 stands for no answer. */
  answers: new Map<string, number[]>(),
});

export type Ledger = ReturnType<typeof emptyLedger>;

/** What is known to be is not forgotten. */
const rank = { no: 0, maybe: 1, yes: 2 } as const;

export function learn(
  ledger: Ledger,
  ids: readonly string[],
  fact: 'created' | 'active' | 'deleted',
  knowledge: Knowledge,
): void {
  for (const id of ids) {
    const token = ledger.tokens.get(id);
    if (token && rank[knowledge] > rank[token[fact]]) token[fact] = knowledge;
  }
}

export function announce(ledger: Ledger, ids: readonly string[], expires = false): void {
  for (const id of ids) ledger.tokens.set(id, { id, created: 'maybe', active: 'maybe', deleted: 'no', expires });
}

/** What the answers promised and the rows do not hold, or hold against it. */
export function contradictions(
  ledger: Ledger,
  { rows, gone, active }: { rows: ReadonlySet<string>; gone: ReadonlySet<string>; active: ReadonlySet<string> },
): string[] {
  const found: string[] = [];
  for (const { id, created, deleted, expires, active: used } of ledger.tokens.values()) {
    const was = rows.has(id) || gone.has(id);
    if (created === 'yes' && !was) found.push(`${id} was acknowledged and was never stored`);
    if (created === 'no' && was) found.push(`${id} was refused and was stored`);
    if (created === 'yes' && deleted === 'no' && !expires && !rows.has(id)) found.push(`${id} is lost`);
    if (deleted === 'yes' && rows.has(id)) found.push(`${id} was deleted and is there`);
    if (used === 'yes' && !active.has(id)) found.push(`${id} was used and does not count as active`);
    if (used === 'no' && active.has(id)) found.push(`${id} was not used and counts as active`);
  }
  for (const { ids, created } of ledger.batches) {
    const stored = ids.filter((id) => rows.has(id) || gone.has(id)).length;
    const allowed = created === 'yes' ? [ids.length] : created === 'no' ? [0] : [0, ids.length];
    if (!allowed.includes(stored)) found.push(`${stored} of the batch ${ids.join(', ')} were stored`);
  }
  return found;
}
