import { type SettingSchema, takesFile } from '@sluice/service-runtime';
import { type Group, groups } from './groups.ts';
import type { Schemas } from './schemas.ts';
import { type Setting, settingsOf, type Taker } from './settings.ts';
import { unitOf, withUnit } from './unit.ts';

const introduction = `# Settings

Made by \`npm run config\` of the configuration schemas of the services; \`npm test\` fails while it is not what they say.

- Settings are environment variables. An empty variable counts as absent. A process reads all of them at its start, names
  every fault at once, and then ends with the exit code 78. \`--help\` of its \`main.ts\` prints those that it takes.
- A **secret** can be given as the name of a file instead, in \`<NAME>_FILE\`. No message and no log shows its value.
- A default with "none" means that the feature which the setting describes is off, or that nothing is added.
- The commands \`npm run migrate\`, \`npm run tenant\` and \`npm run keys\` take the settings of the stores and of the keys
  under the same names. What only \`npm start\` takes is in its \`--help\`; what only containers take is in
  [infra/docker](../docker/README.md).
`;

/** The text of REFERENCE.md. */
export function describeSettings(schemas: Schemas): string {
  const settings = settingsOf(schemas);
  const services = Object.keys(schemas);
  const chapters = groups.map((group) => chapter(group, settings, services)).filter((text) => text !== '');
  return `${[introduction, ...chapters].join('\n')}`;
}

function chapter({ title, about, names }: Group, settings: readonly Setting[], services: readonly string[]): string {
  const members = settings.filter(({ name }) => names.test(name));
  if (members.length === 0) return '';
  const rows = members.map((setting) => row(setting, services));
  return `## ${title}

${about}

| Setting | Meaning | Values | Default | Secret | Taken by |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

function row({ name, takers }: Setting, services: readonly string[]): string {
  const cells = [
    `\`${name}\``,
    merged(takers, ({ schema }) => schema.description),
    merged(takers, ({ schema }) => values(name, schema)),
    merged(takers, (taker) => fallback(name, taker)),
    `${takers[0].schema.writeOnly ? 'yes' : 'no'}${takesFile(takers[0].schema) ? `, or \`${name}_FILE\`` : ''}`,
    takers.length === services.length ? 'all' : takers.map(({ service }) => service).join(', '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** A statement on which all services agree is printed once; otherwise each is followed by the services that make it. */
function merged(takers: readonly Taker[], tell: (taker: Taker) => string): string {
  const sayings = Map.groupBy(takers, tell);
  if (sayings.size === 1) return [...sayings.keys()].join();
  return [...sayings].map(([text, by]) => `${text} (${by.map(({ service }) => service).join(', ')})`).join('; ');
}

function values(name: string, schema: SettingSchema): string {
  const { type, enum: allowed, pattern, minLength } = schema;
  if (allowed) return `one of ${allowed.map((value) => `\`${value}\``).join(', ')}`;
  if (type === 'boolean') return '`true` or `false`';
  if (type === 'string') {
    const length = minLength === undefined || minLength < 2 ? '' : `, at least ${minLength} characters`;
    return `text${length}${pattern ? `, matching \`${pattern}\`` : ''}`;
  }
  return `${type}${measure(name, schema)}, ${bounds(schema)}`;
}

function bounds({ minimum, maximum }: SettingSchema): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${minimum} or more`;
  return maximum === undefined ? 'any' : `at most ${maximum}`;
}

function measure(name: string, schema: SettingSchema): string {
  const unit = unitOf(name, schema);
  return unit === undefined || unit === 'port' ? '' : ` (${unit})`;
}

function fallback(name: string, { schema, required }: Taker): string {
  if (required !== undefined) return required;
  if (schema.default === undefined) return 'none';
  if (typeof schema.default === 'number') return withUnit(schema.default, unitOf(name, schema) ?? '');
  return schema.default === '' ? 'empty' : `\`${schema.default}\``;
}
