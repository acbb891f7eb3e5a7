const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
/** Boundaries are often unquoted although they have characters that a token must not have (RFC 2046 section 5.1.1). */
const loose = "[!#$%&'*+\\-.^_`|~0-9A-Za-z()/:=?,]+";
const parameter = new RegExp(`[ \\t]*;[ \\t]*(${token})=(?:(${loose})|"([^"\\\\\\r\\n]*)")`, 'y');
const first = new RegExp(`^[ \\t]*(${token}(?:/${token})?)`);

export interface ParameterizedValue {
  value: string;
  parameters: readonly (readonly [name: string, value: string])[];
}

/**
 * Undefined if readers of the value (RFC 9110 section 5.6.6) could disagree, for example about a backslash in quotes.
 */
export function readParameters(text: string): ParameterizedValue | undefined {
  const start = first.exec(text);
  if (!start) return undefined;
  const parameters: [string, string][] = [];
  let position = start[0].length;
  for (;;) {
    parameter.lastIndex = position;
    const match = parameter.exec(text);
    if (!match) break;
    position = parameter.lastIndex;
    parameters.push([(match[1] ?? '').toLowerCase(), match[2] ?? match[3] ?? '']);
  }
  if (!/^[ \t]*;?[ \t]*$/.test(text.slice(position))) return undefined;
  return { value: (start[1] ?? '').toLowerCase(), parameters };
}
