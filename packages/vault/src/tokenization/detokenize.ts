import { holds } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { evaluateExpression } from '../expressions/evaluate-expression.ts';
import { newFilterBudget } from '../expressions/filter-budget.ts';
import {
  InvalidExpression,
  mayContainExpression,
  parseExpressions,
  type Segment,
} from '../expressions/parse-expressions.ts';
import { formatPath } from '../expressions/path.ts';
import { toText } from '../expressions/to-text.ts';
import { findLeaf, isNestedDeeperThan, type Json, mapLeaves } from '../json.ts';
import { touch } from '../tokens/activity.ts';
import { type Reading, readVisible } from '../tokens/present-token.ts';
import { notGranted, requirePermission } from '../tokens/require-permission.ts';
import type { Actor } from '../tokens/token.ts';
import { isTokenId } from '../tokens/token-id.ts';
import type { Vault } from '../vault.ts';

/** How many distinct tokens one request may name. */
export const mostDistinctTokens = 100;

const deepest = 500;
const mostTexts = 10_000;
const largestResult = 5 * 1024 * 1024;

/**
 * Replaces the expressions in the strings of a JSON value by what the actor may read of the tokens. A string that is
 * one expression becomes its value, of whatever type; null where the rule redacts. Transforms of a Proxy read by `use`. Plaintext is noted in the disclosure
 * log before it answers.
 * @throws {ServiceError} `forbidden` and `bad_request` naming the tokens that may not be read or are unknown;
 * `bad_request` for a malformed expression or over 100 distinct tokens; `payload_too_large` for a result over 5 MiB.
 */
export async function detokenize(vault: Vault, actor: Actor, value: Json, reading: Reading = 'read'): Promise<Json> {
  if (reading === 'read' || !holds(actor, 'token:use')) requirePermission(actor, 'token:read');
  if (isNestedDeeperThan(deepest, value)) throw new ServiceError('bad_request', 'The value is nested too deeply');
  const parsed = parseStrings(value);
  const ids = referencesIn(parsed.values());
  if (ids.length === 0) return value;
  const visible = await readByReference(vault, actor, ids, reading);
  return fill(value, parsed, visible);
}

/** The strings of a value that hold expressions, each parsed once. */
function parseStrings(value: Json): Map<string, Segment[]> {
  const parsed = new Map<string, Segment[]>();
  mapLeaves(value, (leaf) => {
    if (typeof leaf === 'string' && mayContainExpression(leaf) && !parsed.has(leaf)) {
      if (parsed.size === mostTexts) {
        throw new ServiceError('bad_request', `There are more than ${mostTexts} texts with expressions`);
      }
      parsed.set(leaf, parseLeaf(leaf, value));
    }
    return leaf;
  });
  return parsed;
}

function parseLeaf(leaf: string, value: Json): Segment[] {
  try {
    return parseExpressions(leaf);
  } catch (error) {
    if (!(error instanceof InvalidExpression)) throw error;
    throw error.within(`of ${formatPath(findLeaf(value, leaf) ?? [])}`);
  }
}

function referencesIn(texts: Iterable<readonly Segment[]>): string[] {
  const ids = new Set<string>();
  for (const segments of texts) {
    for (const segment of segments) if (segment.kind === 'expression') ids.add(segment.reference);
  }
  if (ids.size > mostDistinctTokens) {
    throw new ServiceError('bad_request', `One request may name at most ${mostDistinctTokens} tokens`);
  }
  return [...ids];
}

async function readByReference(
  vault: Vault,
  actor: Actor,
  ids: string[],
  reading: Reading,
): Promise<ReadonlyMap<string, Json>> {
  const rows = await vault.tokens.find(actor.tenantId, ids.filter(isTokenId));
  const { data, revealed } = await readVisible(vault, actor, rows, reading);
  const refused = rows.filter((row) => !data.has(row.id));
  if (refused.length > 0)
    throw notGranted(
      'token:read',
      refused.map((row) => row.id),
    );
  const unknown = ids.filter((id) => !data.has(id));
  if (unknown.length > 0) throw new ServiceError('bad_request', `Unknown tokens: ${unknown.join(', ')}`);
  await touch(vault, actor.tenantId, rows);
  const [first] = revealed;
  if (first !== undefined) {
    await vault.disclosures.record({
      tenantId: actor.tenantId,
      actorId: actor.id,
      actorType: actor.actorType ?? 'application',
      traceId: actor.traceId,
      operation: 'read',
      entityType: 'token',
      entityId: first,
      detail: { token_ids: revealed },
    });
  }
  return new Map(Array.from(data, ([id, visible]) => [id, visible ?? null]));
}

function fill(value: Json, parsed: ReadonlyMap<string, Segment[]>, visible: ReadonlyMap<string, Json>): Json {
  const budget = newFilterBudget();
  let size = 0;
  const evaluate = (segment: Segment): Json => {
    if (segment.kind === 'literal') return segment.text;
    const result = evaluateExpression(segment, visible.get(segment.reference) ?? null, budget);
    size += Buffer.byteLength(toText(result));
    if (size > largestResult) throw new ServiceError('payload_too_large', 'The result may have at most 5 MiB');
    return result;
  };
  const filled = mapLeaves(value, (leaf) => {
    const segments = typeof leaf === 'string' ? parsed.get(leaf) : undefined;
    if (!segments) return leaf;
    const [first] = segments;
    if (first && segments.length === 1) return evaluate(first);
    return segments.map((segment) => toText(evaluate(segment))).join('');
  });
  return filled ?? null;
}
