import type { Json } from '../json.ts';
import type { FilterBudget } from './filter-budget.ts';
import type { Expression, Segment } from './parse-expressions.ts';

type Written = Pick<Expression, 'reference' | 'filters'>;

/** Is told what expressions put into a request. */
export interface PutIn {
  /** The value of an expression without a filter. @throws {ServiceError} if it must not be put in. */
  add(expression: Written, value: Json): void;
  /** What the filters of an expression made of `data`. False if it must not be put in; null takes its place. */
  addFiltered(expression: Written, made: Json, data: Json, budget: FilterBudget): boolean;
}

/** Of the values that are known. Call it before anything is put in. */
export function addUnfiltered(
  segments: readonly Segment[],
  values: ReadonlyMap<string, Json>,
  putIn: Pick<PutIn, 'add'>,
): void {
  for (const segment of segments) {
    if (segment.kind === 'literal' || segment.filters.length > 0) continue;
    const value = values.get(segment.reference);
    if (value !== undefined) putIn.add(segment, value);
  }
}

/** The expression as one can write it. */
export function writeExpression({ reference, filters }: Written): string {
  const parts = filters.map(({ name, args }) =>
    args.length === 0 ? name : `${name}: ${args.map(writeArgument).join(', ')}`,
  );
  return `{{ ${[reference, ...parts].join(' | ')} }}`;
}

const simple = /^[^'\\\r\n]*$/;

function writeArgument(argument: Expression['filters'][number]['args'][number]): string {
  if (Array.isArray(argument))
    return argument.map((part) => (typeof part === 'object' ? part.getText() : part)).join(': ');
  // In JSON, double quotes would have to be escaped
  const isSimple = 'content' in argument && typeof argument.content === 'string' && simple.test(argument.content);
  return isSimple ? `'${argument.content}'` : argument.getText();
}
