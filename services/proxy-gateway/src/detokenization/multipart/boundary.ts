import { readParameters } from '../../http/parameters.ts';

/** RFC 2046 section 5.1.1, and further characters that clients use. It never ends with a space. */
const boundaryText = /^[0-9A-Za-z'()+_,\-./:=?!#$%&*^`|~ ]{0,69}[0-9A-Za-z'()+_,\-./:=?!#$%&*^`|~]$/;

/** Undefined if the headers of the `multipart/form-data` request name none, or name it ambiguously. */
export function boundaryOf(headers: readonly string[]): string | undefined {
  const types = headers.filter((_, i) => i % 2 === 1 && headers[i - 1]?.toLowerCase() === 'content-type');
  const [type] = types;
  if (type === undefined || types.length > 1) return undefined;
  const { parameters = [] } = readParameters(type) ?? {};
  const boundaries = parameters.filter(([name]) => name.startsWith('boundary'));
  const [[name, boundary] = ['', '']] = boundaries;
  return boundaries.length === 1 && name === 'boundary' && boundaryText.test(boundary) ? boundary : undefined;
}
