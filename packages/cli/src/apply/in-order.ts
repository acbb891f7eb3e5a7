import { UsageError } from '../failure.ts';
import { type Kind, links, type Members, nameIn, nouns, proxiesNamedBy } from './wanted.ts';

export interface Step {
  action: 'create' | 'update' | 'keep' | 'delete';
  kind: Kind;
  name: string;
  id?: string;
  /** The version of the object that the plan was made from. */
  ifMatch?: string;
  wanted?: Members;
  /** Paths of the members that differ, with values only if they are not secret. */
  changes: readonly string[];
}

/**
 * What is created comes before what names it. An Application that names Proxies is never written first without them,
 * because its key could then call every Proxy.
 * @throws {UsageError} for a circle.
 */
export function inOrder(steps: readonly Step[]): Step[] {
  const ordered = new Set<Step>();
  const visit = (step: Step, above: readonly Step[]): void => {
    if (ordered.has(step)) return;
    if (above.includes(step)) throw circle([...above.slice(above.indexOf(step)), step]);
    for (const named of namedBy(step, steps)) if (named.action === 'create') visit(named, [...above, step]);
    ordered.add(step);
  };
  for (const step of steps) visit(step, []);
  return [...ordered];
}

function namedBy({ kind, wanted }: Step, steps: readonly Step[]): Step[] {
  if (!wanted) return [];
  const names = [
    ...Object.entries(links[kind]).map(([member, target]) => ({ kind: target, name: nameIn(wanted[member]) })),
    ...proxiesNamedBy(kind, wanted).map((name) => ({ kind: 'proxies' as const, name })),
  ];
  return names.flatMap((one) => steps.filter((step) => step.kind === one.kind && step.name === one.name));
}

function circle(steps: readonly Step[]): UsageError {
  const names = steps.map(({ kind, name }) => `${nouns[kind]} ${name}`).join(', ');
  return new UsageError(`None of these can be created first, because each refers to the next: ${names}`);
}
