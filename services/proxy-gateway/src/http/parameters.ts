const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
/** Boundaries often stand unquoted with characters that a token must not have (RFC 2046 section 5.1.1). */
const loose = "[!#$%&'*+\\-.^_`|~0-9A-Za-z()/:=?,]+";
const parameter = new RegExp(`[ \\t]*;[ \\t]*(${token})=(?:(${loose})|"([^"\\\\\\r\\n]*)")`, 'y');
const first = new RegExp(`^[ \\t]*(${token}(?:/${token})?)`);

export interface ParameterizedValue {
  /** What stands before the first semicolon, in lower case. */
  value: string;
  /** In their order and with repetitions; names in lower case. */
  parameters: readonly (readonly [name: string, value: string])[];
}

/**
 * A header value with parameters (RFC 9110 section 5.6.6), such as `form-data; name="a"`. Undefined where readers could
 * disagree: backslashes in quotes, text between parameters, an unclosed quote.
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
