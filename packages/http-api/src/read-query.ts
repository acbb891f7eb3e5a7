import { validationFailed } from '@sluice/problems';

interface QuerySchema {
  properties?: Record<string, { type?: unknown }>;
  patternProperties?: Record<string, { type?: unknown }>;
}

/**
 * The query parameters that a schema names, or has a pattern for, as text. Lists may be repeated, written `id[]=`, or separated by commas.
 * An empty value counts as absent; unknown parameters are ignored.
 */
export function readQuery(url: string, schema: object): Record<string, string | string[]> {
  const start = url.indexOf('?');
  const sent = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  const query: Record<string, string | string[]> = {};
  for (const [name, { type }] of parametersOf(schema as QuerySchema, sent)) {
    const values = [...sent.getAll(name), ...sent.getAll(`${name}[]`)];
    if (type === 'array') {
      query[name] = values.flatMap((value) => value.split(',')).filter((value) => value !== '');
      continue;
    }
    if (values.length > 1) throw validationFailed({ [name]: ['may be given once'] });
    // Digits alone: ajv would convert 0x10, 1e2 and Infinity too, and check no bounds of the last.
    if (type === 'integer' && !/^(?:-?\d{1,15})?$/.test(values[0] ?? '')) {
      throw validationFailed({ [name]: ['must be integer'] });
    }
    if (values[0]) query[name] = values[0];
  }
  return query;
}

function parametersOf({ properties = {}, patternProperties = {} }: QuerySchema, sent: URLSearchParams) {
  const matching = Object.entries(patternProperties).flatMap(([pattern, property]) => {
    const names = [...new Set(sent.keys())].filter((name) => new RegExp(pattern).test(name));
    return names.map((name) => [name, property] as const);
  });
  return [...Object.entries(properties), ...matching];
}
