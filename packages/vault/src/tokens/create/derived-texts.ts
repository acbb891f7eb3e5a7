import type { FilterBudget } from '../../expressions/filter-budget.ts';
import { fillTemplate, tooLarge } from '../../expressions/template.ts';
import { toText } from '../../expressions/to-text.ts';
import type { Json } from '../../json.ts';

/** What a token is found by and compared by, before it is hashed. */
export interface DerivedTexts {
  /** What the search indexes come to, each once, without those that come to nothing or to more than 1 MiB. */
  searchTexts: string[];
  /** Undefined without an expression. */
  fingerprintText: string | undefined;
}

interface Expressions {
  searchIndexes: readonly string[];
  fingerprintExpression: string | undefined;
}

/** @param data what outlives a `cvc`, and its text. */
export function deriveTexts(
  { searchIndexes, fingerprintExpression }: Expressions,
  data: { value: Json; text: string },
  budget: FilterBudget,
): DerivedTexts {
  const textOf = (expression: string) => {
    const filled = fillTemplate(expression, data.value, budget);
    return filled === tooLarge ? tooLarge : toText(filled);
  };
  const searchTexts = new Set<string>();
  for (const expression of searchIndexes) {
    const text = textOf(expression);
    if (text !== tooLarge && text !== '') searchTexts.add(text);
  }
  const own = fingerprintExpression === undefined ? undefined : textOf(fingerprintExpression);
  // Where the expression cannot be worked out it is over all the data: one that is missing would tell how large they are.
  const isWhole = own === tooLarge || (own !== undefined && budget.remaining < 0);
  return { searchTexts: [...searchTexts], fingerprintText: isWhole ? `\0${data.text}` : own };
}
