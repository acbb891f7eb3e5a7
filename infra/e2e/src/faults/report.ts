import type { FaultResult, FaultTest } from './fault-test.ts';

/** The result of a fault test, for people. */
export function report(
  { name, description }: Pick<FaultTest, 'name' | 'description'>,
  { figures, failures }: FaultResult,
): string {
  const width = Math.max(...figures.map(([figure]) => figure.length));
  return [
    '',
    `${name}: ${description}`,
    ...figures.map(([figure, value]) => `  ${figure.padEnd(width)}  ${value}`),
    ...(failures.length > 0 ? [`  FAILED`, ...failures.map((failure) => `  ${failure}`)] : ['  passed']),
    '',
  ].join('\n');
}
