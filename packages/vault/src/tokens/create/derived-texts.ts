import type { FilterBudget } from '../../expressions/filter-budget.ts';
import { fillTemplate, tooLarge } from '../../expressions/template.ts';
import { toText } from '../../expressions/to-text.ts';
import type { Json } from '../../json.ts';

/** What a token is found by and compared by, before it is hashed. */
export interface DerivedTexts {
  /** The results of the search indexes, each once, without empty ones and those over 1 MiB. */
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
  // If the expression cannot be worked out, all the data are fingerprinted, because a missing fingerprint would tell how
  // large they are.
  const isWhole = own === tooLarge || (own !== undefined && budget.remaining < 0);
  return { searchTexts: [...searchTexts], fingerprintText: isWhole ? `\0${data.text}` : own };
}
