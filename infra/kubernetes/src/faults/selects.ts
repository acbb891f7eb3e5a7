import type { Labels } from '../manifest.ts';

interface Selector {
  matchLabels?: Labels;
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}

/** Whether a selector matches these labels. An empty or absent one matches everything. */
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
