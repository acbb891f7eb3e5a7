import { validationFailed } from '@sluice/problems';

interface QuerySchema {
  properties?: Record<string, { type?: unknown }>;
  patternProperties?: Record<string, { type?: unknown }>;
}

/**
 * Lists may be repeated, written `id[]=` or `id[0]=`, or separated by commas. An empty value counts as absent.
 * @throws {ServiceError} `validation_failed` for a repeated parameter that is not a list, and for unknown brackets,
 * because ignoring a filter would return everything.
 */
export function readQuery(url: string, schema: object): Record<string, string | string[]> {
  const start = url.indexOf('?');
  const sent = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  const query: Record<string, string | string[]> = {};
  checkBrackets(schema, sent);
  for (const [name, { type }] of parametersOf(schema as QuerySchema, sent)) {
    if (type === 'array') {
      const items = listOf(name, sent)
        .flatMap((value) => value.split(','))
        .map((item) => item.trim());
      query[name] = items.filter((item) => item !== '');
      continue;
    }
    const values = [...sent.getAll(name), ...sent.getAll(`${name}[]`)];
    if (values.length > 1) throw validationFailed({ [name]: ['may be sent only once'] });
    // Only digits pass, because ajv would also convert 0x10 and 1e2, and Infinity without checking its bounds.
    if (type === 'integer' && !/^(?:-?\d{1,15})?$/.test(values[0] ?? '')) {
      throw validationFailed({ [name]: ['must be a whole number'] });
    }
    if (values[0]) query[name] = values[0];
  }
  return query;
}

function checkBrackets({ properties = {} }: QuerySchema, sent: URLSearchParams): void {
  for (const key of sent.keys()) {
    const bracket = key.indexOf('[');
    if (bracket === -1) continue;
    const name = key.slice(0, bracket);
    if (!Object.hasOwn(properties, name)) continue;
    const known = properties[name]?.type === 'array' ? /^\[\d{0,5}\]$/ : /^\[\]$/;
    if (known.test(key.slice(name.length))) continue;
    throw validationFailed({ [name]: [`must be written ${name}, ${name}[] or, for a list, ${name}[0]`] });
  }
}

/** In the order of their indexes, if given. */
function listOf(name: string, sent: URLSearchParams): string[] {
  const values: { index: number; value: string }[] = [];
  for (const [key, value] of sent) {
    if (!key.startsWith(name)) continue;
    const rest = /^(?:\[(\d{0,5})\])?$/.exec(key.slice(name.length));
    if (rest) values.push({ index: Number(rest[1] ?? 0), value });
  }
  return values.sort((a, b) => a.index - b.index).map(({ value }) => value);
}

function parametersOf({ properties = {}, patternProperties = {} }: QuerySchema, sent: URLSearchParams) {
  const matching = Object.entries(patternProperties).flatMap(([pattern, property]) => {
    const names = [...new Set(sent.keys())].filter((name) => new RegExp(pattern).test(name));
    return names.map((name) => [name, property] as const);
  });
  return [...Object.entries(properties), ...matching];
}
