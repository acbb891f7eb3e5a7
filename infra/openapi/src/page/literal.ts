const width = 56;

/** A JSON value as it is written in TypeScript. Short objects stay on one line. */
export function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Array.isArray(value) ? value.map((element) => ['', element]) : Object.entries(value);
  const shown = members.filter(([, member]) => member !== undefined);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (shown.length === 0) return open + close;
  const write = (inner: string) => shown.map(([name, member]) => keyOf(name) + literal(member, inner));
  const pad = Array.isArray(value) ? '' : ' ';
  const line = `${open}${pad}${write(indent).join(', ')}${pad}${close}`;
  if (line.length + indent.length <= width && !line.includes('\n')) return line;
  const inner = `${indent}  `;
  const lines = write(inner).map((text) => `${inner}${text},\n`);
  return `${open}\n${lines.join('')}${indent}${close}`;
}

function keyOf(name: string): string {
  if (name === '') return '';
  return `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)}: `;
}

/** With the quotes that need fewer escapes; several lines as a template. */
function quoted(text: string): string {
  if (text.includes('\n')) return `\`${text.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\``;
  const json = JSON.stringify(text);
  if (text.includes("'") && !text.includes('"')) return json;
  return `'${json.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
