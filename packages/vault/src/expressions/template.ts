import { type Json, mapLeaves } from '../json.ts';
import { evaluateExpression } from './evaluate-expression.ts';
import { type Expression, invalidExpression, mayContainExpression, parseExpressions } from './parse-expressions.ts';
import { type Path, parsePath, valueAt } from './path.ts';
import { toText } from './to-text.ts';

/**
 * Fills a mask, or any JSON with `{{ data… | filter }}` in its strings, from a token's data. A string that is one
 * expression becomes its value; a member whose value is not there is left out.
 * @throws {ServiceError} `bad_request` for an expression that is malformed or does not begin with `data`.
 */
export function fillTemplate(template: Json, data: Json): Json | undefined {
  return mapLeaves(template, (leaf) => {
    if (typeof leaf !== 'string' || !mayContainExpression(leaf)) return leaf;
    return fillText(leaf, data);
  });
}

function fillText(text: string, data: Json): Json | undefined {
  const segments = parseExpressions(text);
  const [first] = segments;
  if (segments.length === 1 && first?.kind === 'expression') return evaluatePath(first, data) ?? undefined;
  return segments
    .map((segment) => (segment.kind === 'literal' ? segment.text : toText(evaluatePath(segment, data))))
    .join('');
}

function evaluatePath(expression: Expression, data: Json): Json {
  return evaluateExpression(expression, valueAt(data, pathOf(expression)) ?? null);
}

function pathOf({ reference, start }: Expression): Path {
  const path = parsePath(reference, 'data');
  if (!path) throw invalidExpression(start, 'it must be a path that begins with data');
  return path;
}

/** How many expressions are in the strings of a template. @throws {ServiceError} as {@link fillTemplate} does. */
export function countExpressions(template: Json): number {
  let count = 0;
  mapLeaves(template, (leaf) => {
    if (typeof leaf === 'string') count += expressionsIn(leaf).length;
    return leaf;
  });
  return count;
}

function expressionsIn(text: string): Expression[] {
  if (!mayContainExpression(text)) return [];
  const expressions = parseExpressions(text).filter((segment) => segment.kind === 'expression');
  for (const expression of expressions) pathOf(expression);
  return expressions;
}
