import type { Labels } from '../manifest.ts';

interface Selector {
  matchLabels?: Labels;
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}

/** Whether a selector takes what has these labels; an empty or absent one takes everything. */
export function selects(selector: Selector | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([label, value]) => labels[label] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== 'In') throw new Error(`selectors with ${operator} are not checked`);
      return values.includes(labels[key] ?? '');
    })
  );
}
