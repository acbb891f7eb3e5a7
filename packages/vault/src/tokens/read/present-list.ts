import { ServiceError } from '@sluice/problems';
import { type FilterBudget, filterBudget } from '../../expressions/filter-budget.ts';
import { textLengthOf } from '../../expressions/text-length.ts';
import type { Vault } from '../../vault.ts';
import { findTokenRows } from '../token.queries.ts';
import type { Actor, Token, TokenRow } from '../token.ts';
import { withUses } from '../use/with-uses.ts';
import { touch } from './activity.ts';
import { discloseRead } from './disclose-read.ts';
import { presentWithoutData, readVisible } from './present-token.ts';
import { ShownData } from './shown-data.ts';
import { bytesAtOnce, type PageRow, type TokenPosition } from './token-list.queries.ts';

const none: ReadonlySet<string> = new Set();

export interface PresentOptions {
  isGranted?: ((row: TokenRow) => boolean) | undefined;
}

export interface PresentedPage {
  tokens: Token[];
  /** The last row before the page would exceed 8 MiB. */
  cutAt?: TokenPosition;
}

/** Decides again, because a query may find rows that the actor may not read. Reads few large rows at a time. */
export async function presentPage(
  vault: Vault,
  actor: Actor,
  rows: readonly PageRow[],
  options: PresentOptions = {},
): Promise<PresentedPage> {
  const page = new ShownPage();
  let cutAt: TokenPosition | undefined;
  let last: TokenPosition | undefined;
  for (const part of partsOf(rows)) {
    if (last) await vault.workPieces.turn(actor.tenantId);
    const read = await readPart(vault, actor, { ...options, part, budget: page.budget });
    for (const position of part) {
      const row = read.rows.get(position.id);
      if (row && read.data.has(row.id) && !page.add(row, read.data.get(row.id), read.revealed.has(row.id))) {
        cutAt = last;
        break;
      }
      last = position;
    }
    if (cutAt) break;
  }
  const gone = actor.administers ? none : await touch(vault, actor.tenantId, page.rows);
  await discloseRead(
    vault,
    actor,
    page.revealed.filter(({ id }) => !gone.has(id)),
  );
  const shown = page.tokens.filter(({ id }) => !gone.has(id));
  return { tokens: await withUses(vault, actor.tenantId, shown), ...(cutAt && { cutAt }) };
}

/** {@link presentPage} for numbered pages, which must be complete. */
export async function presentList(
  vault: Vault,
  actor: Actor,
  rows: readonly PageRow[],
  options?: PresentOptions,
): Promise<Token[]> {
  const { tokens, cutAt } = await presentPage(vault, actor, rows, options);
  if (!cutAt) return tokens;
  throw new ServiceError(
    'payload_too_large',
    'This page is too large: it would have more than 8 MiB, or its parsed data would take more than 64 MiB of memory. Ask for fewer tokens with a smaller `size`',
    {
      limit: 'page_size',
    },
  );
}

class ShownPage {
  readonly tokens: Token[] = [];
  readonly rows: TokenRow[] = [];
  readonly revealed: TokenRow[] = [];
  readonly budget = filterBudget();
  readonly #shown = new ShownData();

  /** Returns false if the token no longer fits; the first always fits. */
  add(row: TokenRow, data: Token['data'], isRevealed: boolean): boolean {
    const fits = this.#shown.add(data, textLengthOf(row.mask) + textLengthOf(row.metadata));
    if (!fits && this.tokens.length > 0) return false;
    this.tokens.push({ ...presentWithoutData(row), ...(data !== undefined && { data }) });
    this.rows.push(row);
    if (isRevealed) this.revealed.push(row);
    return true;
  }
}

/** First the rows that the page's query returned whole, then groups of rows as large as may be read at once. */
function partsOf(rows: readonly PageRow[]): PageRow[][] {
  const parts = [rows.filter(({ whole }) => whole)];
  let part: PageRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (row.whole) continue;
    if (part.length > 0 && bytes + row.sizeBytes > bytesAtOnce) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(row);
    bytes += row.sizeBytes;
  }
  return [...parts, part].filter(({ length }) => length > 0);
}

interface Part extends PresentOptions {
  part: readonly PageRow[];
  budget: FilterBudget;
}

/** Decides by the current state, because rows may have been moved since the page was read. */
async function readPart(vault: Vault, actor: Actor, { part, budget, isGranted = () => true }: Part) {
  const whole = part.flatMap((row) => row.whole ?? []);
  const later = part.flatMap((row) => (row.whole ? [] : [row.id]));
  const read = later.length > 0 ? await findTokenRows(vault.db, actor.tenantId, later) : [];
  const byId = new Map(read.map((row) => [row.id, row]));
  // In the page's order, so that masks are filled from its beginning.
  const fresh = later.flatMap((id) => byId.get(id) ?? []);
  const granted = [...whole, ...fresh].filter(isGranted);
  const { data, revealed } = await readVisible(vault, actor, granted, { budget });
  return { rows: new Map(granted.map((row) => [row.id, row])), data, revealed: new Set(revealed.map(({ id }) => id)) };
}
