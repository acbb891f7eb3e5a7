import { LRUCache } from 'lru-cache';
import { type Json, mapLeaves } from '../json.ts';
import { evaluateExpression } from './evaluate-expression.ts';
import { type FilterBudget, filterBudget } from './filter-budget.ts';
import {
  type Expression,
  invalidExpression,
  type Literal,
  mayContainExpression,
  parseExpressions,
} from './parse-expressions.ts';
import { type Path, parsePath, valueAt } from './path.ts';
import { textLengthOf } from './text-length.ts';
import { toText } from './to-text.ts';

/** Result of a template over 1 MiB. */
export const tooLarge = Symbol('too large');

const mostFilled = 1024 * 1024;

/**
 * A string that is one expression becomes its value; an undefined value removes the member. Stops once the result is
 * too large, because fifty expressions can name a large value fifty times.
 */
export function fillTemplate(
  template: Json,
  data: Json,
  budget: FilterBudget = filterBudget(),
): Json | undefined | typeof tooLarge {
  const mayFill = Math.min(mostFilled, budget.leftToFill);
  const room = { left: mayFill };
  const evaluate = (expression: PathExpression) => {
    if (room.left < 0) return null;
    const value = evaluateExpression(expression, valueAt(data, expression.path) ?? null, budget);
    room.left -= textLengthOf(value);
    return room.left < 0 ? null : value;
  };
  const filled = mapLeaves(template, (leaf) =>
    typeof leaf === 'string' && mayContainExpression(leaf) ? fillText(leaf, evaluate) : leaf,
  );
  const isTooLarge = room.left < 0;
  // A result that is too large is shown as null, and does not reduce the budget of others.
  if (!isTooLarge || mayFill < mostFilled) budget.leftToFill -= mayFill - room.left;
  return isTooLarge ? tooLarge : filled;
}

type Evaluate = (expression: PathExpression) => Json;

function fillText(text: string, evaluate: Evaluate): Json | undefined {
  const parts = parseOnce(text);
  const [first] = parts;
  if (parts.length === 1 && first?.kind === 'expression') return evaluate(first) ?? undefined;
  return parts.map((part) => (part.kind === 'literal' ? part.text : toText(evaluate(part)))).join('');
}

interface PathExpression extends Expression {
  path: Path;
}

/** Cached, because most masks are the default of their type. */
const parsed = new LRUCache<string, (Literal | PathExpression)[]>({ max: 500 });
const longestKept = 400;

function parseOnce(text: string): (Literal | PathExpression)[] {
  const known = parsed.get(text);
  if (known) return known;
  const parts = parseExpressions(text).map((segment) =>
    segment.kind === 'literal' ? segment : { ...segment, path: pathOf(segment) },
  );
  if (text.length <= longestKept) parsed.set(text, parts);
  return parts;
}

function pathOf({ reference, start }: Expression): Path {
  const path = parsePath(reference, 'data');
  if (!path) throw invalidExpression(start, 'it must be a path that begins with "data"');
  return path;
}

export function countExpressions(template: Json): number {
  let count = 0;
  mapLeaves(template, (leaf) => {
    if (typeof leaf === 'string') count += expressionsIn(leaf).length;
    return leaf;
  });
  return count;
}

/** @throws {ServiceError} `bad_request` if the text cannot be read. */
export function pathsIn(text: string): Path[] {
  return parseOnce(text).flatMap((part) => (part.kind === 'expression' ? [part.path] : []));
}

/** Paths of the expressions with a filter, which may show a part of a value. */
export function filteredPathsIn(text: string): Path[] {
  return parseOnce(text).flatMap((part) => (part.kind === 'expression' && part.filters.length > 0 ? [part.path] : []));
}

function expressionsIn(text: string): Expression[] {
  if (!mayContainExpression(text)) return [];
  const expressions = parseExpressions(text).filter((segment) => segment.kind === 'expression');
  for (const expression of expressions) pathOf(expression);
  return expressions;
}
