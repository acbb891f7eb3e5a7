/** RFC 8785. @throws {TypeError} for what JSON cannot hold, and for lone surrogates. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return textOf(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is no JSON number`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`A ${typeof value} is no JSON value`);
  const members = value as Record<string, unknown>;
  let text = '';
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member !== undefined) text += `${text === '' ? '' : ','}${textOf(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

function textOf(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('A string holds half of a surrogate pair');
  return JSON.stringify(value);
}
