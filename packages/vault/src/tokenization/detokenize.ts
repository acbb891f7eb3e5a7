import { holds } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { evaluateExpression } from '../expressions/evaluate-expression.ts';
import { filterBudget } from '../expressions/filter-budget.ts';
import {
  type Expression,
  expressionsOfPiece,
  faultIn,
  mayContainExpression,
  readExpressionsInPieces,
  type Segment,
} from '../expressions/parse-expressions.ts';
import { formatPath } from '../expressions/path.ts';
import { addUnfiltered, type PutIn } from '../expressions/put-in.ts';
import { textLengthOf } from '../expressions/text-length.ts';
import { toText } from '../expressions/to-text.ts';
import { findLeaf, isNestedDeeperThan, type Json, mapLeaves } from '../json.ts';
import { touch } from '../tokens/read/activity.ts';
import { discloseRead } from '../tokens/read/disclose-read.ts';
import { type Reading, readVisible } from '../tokens/read/present-token.ts';
import { notGranted, requirePermission } from '../tokens/require-permission.ts';
import type { FoundToken } from '../tokens/token.queries.ts';
import type { Actor } from '../tokens/token.ts';
import { isTokenId } from '../tokens/token-id.ts';
import type { Vault } from '../vault.ts';

export const mostDistinctTokens = 100;

const deepest = 500;
const mostTexts = 10_000;
const largestResult = 5 * 1024 * 1024;

/**
 * A string that is one expression becomes the value, or null if it is redacted. A filter that fails gives null, because
 * values must not decide about errors. Disclosures are logged before anything is returned.
 * @throws {ServiceError} `forbidden`; `bad_request` for unknown tokens, over 100 tokens, or a malformed expression,
 * after the check of rights; `payload_too_large` for a result over 5 MiB.
 */
export async function detokenize(vault: Vault, actor: Actor, value: Json, reading: Reading = 'read'): Promise<Json> {
  const [filled] = await detokenizeEach(vault, actor, [value], { reading });
  return filled ?? null;
}

/** Each step takes about a millisecond, and other work may run between two steps. */
export type RunInPieces = <T>(work: Generator<void, T, void>) => T | Promise<T>;

const runAtOnce: RunInPieces = async (work) => {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
};

interface Detokenizing {
  reading?: Reading;
  inPieces?: RunInPieces;
  /** The whole document, for positions in errors, if the values are only a part of it. */
  document?: Json;
  /** Called with the tokens before they are decrypted. */
  onFound?: ((rows: readonly FoundToken[]) => void) | undefined;
  putIn?: PutIn | undefined;
}

/**
 * {@link detokenize} of several values. Each has its own budget and size limit; the limit also applies to all together.
 */
export async function detokenizeEach(
  vault: Vault,
  actor: Actor,
  values: readonly Json[],
  { reading = 'read', inPieces = runAtOnce, document, onFound, putIn }: Detokenizing = {},
): Promise<readonly Json[]> {
  if (reading === 'reveal') requirePermission(actor, 'token:use');
  else if (reading === 'read' || !holds(actor, 'token:use')) requirePermission(actor, 'token:read');
  for (const value of values) {
    if (isNestedDeeperThan(deepest, value))
      throw new ServiceError('bad_request', `The value is nested deeper than ${deepest} levels`);
  }
  const parsed = await inPieces(parseStrings([...values]));
  if (parsed.size === 0) return values;
  const ids = referencesIn(parsed.values());
  const needed = withoutFilters(parsed.values());
  const fault = firstFault(document === undefined ? values : [document], parsed);
  const visible = await readByReference(vault, actor, { ids, needed, fault, reading, onFound });
  if (putIn) for (const segments of parsed.values()) addUnfiltered(segments, visible, putIn);
  const filled: Json[] = [];
  let bytesOfAll = 0;
  for (const value of values) {
    const { result, bytes } = await inPieces(fill(value, parsed, { visible, putIn }));
    bytesOfAll += bytes;
    if (bytesOfAll > largestResult) {
      throw new ServiceError('payload_too_large', 'The results may have at most 5 MiB in total', {
        limit: 'result_size',
      });
    }
    filled.push(result);
  }
  return filled;
}

function* parseStrings(value: Json): Generator<void, Map<string, Segment[]>, void> {
  const parsed = new Map<string, Segment[]>();
  let expressions = 0;
  for (const text of textsWithExpressions(value)) {
    if (parsed.has(text)) continue;
    if (parsed.size === mostTexts) {
      throw new ServiceError('bad_request', `A value may have at most ${mostTexts} strings with expressions`);
    }
    const segments = yield* readExpressionsInPieces(text);
    parsed.set(text, segments);
    expressions += segments.length;
    if (expressions < expressionsOfPiece) continue;
    expressions = 0;
    yield;
  }
  return parsed;
}

/** In the order of {@link mapLeaves}, with repetitions. */
function textsWithExpressions(value: Json): string[] {
  const texts: string[] = [];
  mapLeaves(value, (leaf) => {
    if (typeof leaf === 'string' && mayContainExpression(leaf)) texts.push(leaf);
    return leaf;
  });
  return texts;
}

function referencesIn(texts: Iterable<readonly Segment[]>): string[] {
  const ids = new Set<string>();
  for (const segments of texts) {
    for (const segment of segments) {
      if (segment.kind === 'expression' && segment.reference !== '') ids.add(segment.reference);
    }
  }
  if (ids.size > mostDistinctTokens) {
    throw new ServiceError('bad_request', `One request may name at most ${mostDistinctTokens} tokens`);
  }
  return [...ids];
}

function withoutFilters(texts: Iterable<readonly Segment[]>): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const segments of texts) {
    for (const segment of segments) {
      if (segment.kind === 'expression' && segment.filters.length === 0) ids.add(segment.reference);
    }
  }
  return ids;
}

function firstFault(values: readonly Json[], parsed: ReadonlyMap<string, Segment[]>): ServiceError | undefined {
  for (const [leaf, segments] of parsed) {
    const fault = faultIn(segments);
    if (!fault) continue;
    const path = values.map((value) => findLeaf(value, leaf)).find((found) => found !== undefined);
    return fault.within(`of ${formatPath(path ?? [])}`);
  }
  return undefined;
}

async function readByReference(
  vault: Vault,
  actor: Actor,
  {
    ids,
    needed,
    fault,
    reading,
    onFound,
  }: { ids: string[]; needed: ReadonlySet<string>; fault: ServiceError | undefined } & Required<
    Pick<Detokenizing, 'reading' | 'onFound'>
  >,
): Promise<ReadonlyMap<string, Json>> {
  const rows = await vault.tokens.find(actor.tenantId, ids.filter(isTokenId));
  onFound?.(rows);
  const { data, revealed } = await readVisible(vault, actor, rows, { reading, needed });
  const refused = rows.filter((row) => !data.has(row.id));
  if (refused.length > 0)
    throw notGranted(
      reading === 'reveal' ? 'token:use' : 'token:read',
      refused.map((row) => row.id),
    );
  if (fault) throw fault;
  refuseUnknown(ids.filter((id) => !data.has(id)));
  refuseUnknown([...(await touch(vault, actor.tenantId, rows))]);
  await discloseRead(vault, actor, revealed);
  return new Map(Array.from(data, ([id, visible]) => [id, visible ?? null]));
}

function refuseUnknown(ids: readonly string[]): void {
  if (ids.length > 0) throw new ServiceError('bad_request', `Unknown tokens: ${ids.join(', ')}`);
}

/** @returns the value with its expressions replaced, and the size of the replacements in bytes. */
function* fill(
  value: Json,
  parsed: ReadonlyMap<string, Segment[]>,
  { visible, putIn }: { visible: ReadonlyMap<string, Json>; putIn: PutIn | undefined },
): Generator<void, { result: Json; bytes: number }, void> {
  const budget = filterBudget();
  let size = 0;
  let hasFilters = false;
  const texts = textsWithExpressions(value);
  const unfiltered = ({ reference, filters }: Expression) => {
    hasFilters ||= filters.length > 0;
    const result = filters.length === 0 ? (visible.get(reference) ?? null) : null;
    size += Buffer.byteLength(toText(result));
    if (size > largestResult) {
      throw new ServiceError('payload_too_large', 'The result may have at most 5 MiB', { limit: 'result_size' });
    }
    return result;
  };
  const filtered = (expression: Expression) => {
    const data = visible.get(expression.reference) ?? null;
    const result = evaluateExpression(expression, data, budget);
    if (expression.filters.length === 0) return result;
    if (putIn && !putIn.addFiltered(expression, result, data, budget)) return null;
    if (size + textLengthOf(result) > largestResult) return null;
    const bytes = Buffer.byteLength(toText(result));
    if (size + bytes > largestResult) return null;
    size += bytes;
    return result;
  };
  let filled = yield* write(texts, parsed, unfiltered);
  // Filtered values may use only the space that unfiltered ones leave, so the first pass measures those.
  if (hasFilters) filled = yield* write(texts, parsed, filtered);
  let at = 0;
  const withValues = mapLeaves(value, (leaf) =>
    typeof leaf === 'string' && mayContainExpression(leaf) ? filled[at++] : leaf,
  );
  return { result: withValues ?? null, bytes: size };
}

function* write(
  texts: readonly string[],
  parsed: ReadonlyMap<string, Segment[]>,
  resolve: (expression: Expression) => Json,
): Generator<void, Json[], void> {
  const written: Json[] = [];
  let expressions = 0;
  for (const text of texts) {
    const parts: Json[] = [];
    const segments = parsed.get(text) ?? [];
    for (const segment of segments) {
      parts.push(segment.kind === 'literal' ? segment.text : resolve(segment));
      expressions += 1;
      if (expressions % expressionsOfPiece === 0) yield;
    }
    const [only = null] = parts;
    written.push(segments.length === 1 ? only : parts.map(toText).join(''));
  }
  return written;
}
