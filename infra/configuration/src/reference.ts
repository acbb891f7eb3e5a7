import { type SettingSchema, takesFile } from '@sluice/service-runtime';
import { type Group, groups } from './groups.ts';
import type { Schemas } from './schemas.ts';
import { type Setting, settingsOf, type Taker } from './settings.ts';
import { unitOf, withUnit } from './unit.ts';

const introduction = `# Settings

Made by \`npm run config\` of the configuration schemas of the services; \`npm test\` fails while it is not what they say.

- Settings are environment variables; an empty one counts as absent. A process reads all at its start, names every fault at once, and
  then exits with 78. \`npx node services/worker/src/main.ts --help\` prints those of the worker.
- A **secret** can be given as the name of a file instead. No message and no log shows its value.
- Numbers without a range may be any from 0 or 1 on. The default "none" means that the feature is off, or that nothing is added.
- \`npm run migrate\`, \`npm run tenant\` and \`npm run keys\` take the settings of stores and keys. \`npm start\` takes all but those that
  it sets itself (\`--help\`). What only containers take is in [infra/docker](../docker/README.md).
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
  const most = commonest(members.map((setting) => takenBy(setting, services)));
  const rows = members.map((setting) => {
    const by = takenBy(setting, services);
    return row(setting, by === most ? '' : by);
  });
  return `## ${title}

${about} Taken by ${most}, unless a row says otherwise.

| Setting | Meaning | Values | Default |
|---|---|---|---|
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

/** @param others Who takes it, where that is not what the chapter says. */
function row({ name, takers }: Setting, others: string): string {
  const notes = [...secrecy(name, takers[0].schema), ...(others ? [others] : [])];
  const cells = [
    `\`${name}\`${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`,
    merged(takers, ({ schema }) => meaning(name, schema)),
    merged(takers, ({ schema }) => values(schema)),
    merged(takers, (taker) => fallback(name, taker)),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function secrecy(name: string, schema: SettingSchema): string[] {
  return [...(schema.writeOnly ? ['secret'] : []), ...(takesFile(schema) ? [`or \`${name}_FILE\``] : [])];
}

/** The description; without its unit where the default says it. */
function meaning(name: string, schema: SettingSchema): string {
  const isTold = typeof schema.default === 'number' && unitOf(name, schema) !== undefined;
  return isTold ? schema.description.replace(/, in\s+(milliseconds|seconds|bytes|days)\b/, '') : schema.description;
}

/** A statement on which all services agree is printed once; otherwise each is followed by the services that make it. */
function merged(takers: readonly Taker[], tell: (taker: Taker) => string): string {
  const sayings = Map.groupBy(takers, tell);
  if (sayings.size === 1) return [...sayings.keys()].join();
  return [...sayings].map(([text, by]) => `${text} (${by.map(({ service }) => service).join(', ')})`).join('; ');
}

function values(schema: SettingSchema): string {
  const { type, enum: allowed, pattern, minLength } = schema;
  if (allowed) return `one of ${allowed.map((value) => `\`${value}\``).join(', ')}`;
  if (type === 'boolean') return 'boolean';
  if (type === 'string') {
    const length = minLength === undefined || minLength < 2 ? '' : `, at least ${minLength} characters`;
    return `text${length}${pattern ? `, \`${pattern}\`` : ''}`;
  }
  return bounds(schema);
}

function bounds({ minimum, maximum }: SettingSchema): string {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (maximum !== undefined) return `at most ${maximum}`;
  return minimum === undefined || minimum <= 1 ? '' : `${minimum} or more`; // 0 and 1 need no words
}

function fallback(name: string, { schema, required }: Taker): string {
  if (required !== undefined) return required;
  if (schema.default === undefined) return 'none';
  if (typeof schema.default === 'number') return withUnit(schema.default, unitOf(name, schema) ?? '');
  return schema.default === '' ? 'empty' : `\`${schema.default}\``;
}
