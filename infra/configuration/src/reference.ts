import { type SettingSchema, takesFile } from '@sluice/service-runtime';
import { type Group, groups } from './groups.ts';
import type { Schemas } from './schemas.ts';
import { type Setting, settingsOf, type Taker } from './settings.ts';
import { unitOf, withLargerUnit } from './unit.ts';

const introduction = `# Settings

Generated from the services' schemas by \`npm run config\`.

- Settings are environment variables. An empty one counts as not set.
- A process checks all its settings when it starts. If a setting is wrong or missing, the process names all faults and
  exits with the exit code 78.
- Each chapter names the processes that take its settings. If the name of a setting is followed by processes in
  parentheses, only those processes take this setting.
- A **secret** is never printed. Its value can come from a file: append \`_FILE\` to the name of the setting.
- Numbers without a range have no upper limit. None may be negative.
- \`npm run migrate\`, \`npm run tenant\` and \`npm run keys\` take the settings of stores and keys. \`npm start\` takes all settings
  except those that it sets itself; \`npm start -- --help\` lists these. For the settings of Docker containers, see
  [docker](../docker/README.md).
`;

/** The text of REFERENCE.md. */
export function describeSettings(schemas: Schemas): string {
  const settings = settingsOf(schemas);
  const services = Object.keys(schemas);
  const chapters = groups.map((group) => chapter(group, settings, services)).filter((text) => text !== '');
  return `${[introduction, ...chapters].join('\n')}`;
}

function chapter(
  { title, about = '', names }: Group,
  settings: readonly Setting[],
  services: readonly string[],
): string {
  const members = settings.filter(({ name }) => names.test(name));
  if (members.length === 0) return '';
  const most = commonest(members.map((setting) => takenBy(setting, services)));
  const rows = members.map((setting) => {
    const by = takenBy(setting, services);
    return row(setting, by === most ? '' : by);
  });
  return `## ${title}

${about && `${about} `}The settings of this chapter are taken by ${most}.

| Setting | Meaning | Default; values |
|---|---|---|
${rows.join('\n')}
`;
}

function takenBy({ takers }: Setting, services: readonly string[]): string {
  return takers.length === services.length ? 'all processes' : takers.map(({ service }) => service).join(', ');
}

function commonest(texts: readonly string[]): string {
  const [most] = [...Map.groupBy(texts, (text) => text)].sort(([, a], [, b]) => b.length - a.length);
  return most?.[0] ?? '';
}

/** @param others The services that take it, if they differ from those that the chapter names. */
function row({ name, takers }: Setting, others: string): string {
  const notes = [...secrecy(name, takers[0].schema), ...(others ? [others] : [])];
  const cells = [
    `\`${name}\`${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`,
    merged(takers, ({ schema }) => schema.description),
    [merged(takers, (taker) => fallback(name, taker)), merged(takers, ({ schema }) => values(schema))]
      .filter((text) => text !== '')
      .join('; '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Every secret can come from a file, as the introduction says. */
function secrecy(name: string, schema: SettingSchema): string[] {
  if (schema.writeOnly) return ['secret'];
  return takesFile(schema) ? [`or \`${name}_FILE\``] : [];
}

/** A statement on which all services agree is printed once; otherwise each is followed by the services that make it. */
function merged(takers: readonly Taker[], tell: (taker: Taker) => string): string {
  const sayings = Map.groupBy(takers, tell);
  if (sayings.size === 1) return [...sayings.keys()].join();
  return [...sayings].map(([text, by]) => `${text} (${by.map(({ service }) => service).join(', ')})`).join('; ');
}

function values(schema: SettingSchema): string {
  const { type, enum: allowed, pattern, minLength } = schema;
  if (allowed) return `${allowed.map((value) => `\`${value}\``).join(', ')}`;
  if (type === 'boolean') return '';
  if (type === 'string') {
    if (pattern) return `\`${pattern}\``;
    return minLength === undefined || minLength < 2 ? '' : `${minLength} characters or more`;
  }
  return bounds(schema);
}

function bounds({ minimum, maximum }: SettingSchema): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum}–${maximum}`;
  if (maximum !== undefined) return `≤${maximum}`;
  return minimum === undefined || minimum <= 1 ? '' : `≥${minimum}`; // 0 and 1 need no words
}

function fallback(name: string, { schema, required }: Taker): string {
  if (required !== undefined) return required;
  if (schema.default === undefined) return '';
  if (typeof schema.default === 'number') return withLargerUnit(schema.default, unitOf(name, schema));
  return schema.default === '' ? '' : `\`${schema.default}\``;
}
