import type { FilterBudget } from '../../expressions/filter-budget.ts';
import { fillTemplate, tooLarge } from '../../expressions/template.ts';
import { toText } from '../../expressions/to-text.ts';
import type { Json } from '../../json.ts';

export interface DerivedTexts {
  /** Distinct results of the search indexes, without empty ones and those over 1 MiB. */
  searchTexts: string[];
  fingerprintText: string | undefined;
}

interface Expressions {
  searchIndexes: readonly string[];
  fingerprintExpression: string | undefined;
}

/** `data` is what outlives a `cvc`. */
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
  // If the expression is too much work, all data are fingerprinted: a missing fingerprint would tell their size.
  const isWhole = own === tooLarge || (own !== undefined && budget.remaining < 0);
  return { searchTexts: [...searchTexts], fingerprintText: isWhole ? `\0${data.text}` : own };
}
