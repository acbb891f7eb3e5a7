import { nameBudget, nearMisses } from '@sluice/problems';
import { memberPath } from './member-path.ts';
import { bodyCheck, type Check, refuse } from './validate.ts';

interface Schema {
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: unknown;
  patternProperties?: unknown;
  items?: Schema;
}

type Answers = readonly (Schema | null | undefined)[];

interface Facts {
  body: object;
  response: { readonly [status: number]: object | null };
}

/**
 * The check of every body of the API. A misspelt member is refused wherever its object has a schema, before its absence
 * is noticed or a default takes its place. Read-only members of responses are accepted, because they may be sent back.
 */
export function operationBodyCheck({ body, response }: Facts): Check {
  const answers = Object.values(response);
  const checkShape = bodyCheck(body);
  return (value) => {
    refuse(misspeltIn({ value, schema: body, answers, path: [] }));
    checkShape(value);
  };
}

interface Visited {
  value: unknown;
  schema: Schema;
  /** What responses have in the same place. */
  answers: Answers;
  path: readonly (string | number)[];
}

/** By the member's path in the body. */
function misspeltIn(body: Visited): Record<string, string[]> {
  const faults: Record<string, string[]> = Object.create(null);
  const budget = nameBudget();
  const visit = ({ value, schema, answers, path }: Visited): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties, additionalProperties = false, patternProperties, items } = schema;
    if (Array.isArray(value)) {
      if (!items) return;
      const answered = answers.map((answer) => answer?.items);
      for (const [i, item] of value.entries())
        visit({ value: item, schema: items, answers: answered, path: [...path, i] });
      return;
    }
    if (!properties) return;
    if (additionalProperties === false && !patternProperties) {
      const readOnly = answers.flatMap((answer) => Object.keys(answer?.properties ?? {}));
      const misspelt = nearMisses(value, { writable: Object.keys(properties), readOnly }, budget);
      for (const [name, messages] of Object.entries(misspelt)) faults[memberPath([...path, name])] = messages;
    }
    for (const [name, member] of Object.entries(properties)) {
      if (!Object.hasOwn(value, name)) continue;
      const answered = answers.map((answer) => answer?.properties?.[name]);
      const below = (value as Record<string, unknown>)[name];
      visit({ value: below, schema: member, answers: answered, path: [...path, name] });
    }
  };
  visit(body);
  return faults;
}
