import { takesFile } from '@sluice/service-runtime';
import { describeSettings } from './reference.ts';
import { schemas } from './schemas.ts';
import { settingsOf } from './settings.ts';

export interface CommittedFile {
  readonly url: URL;
  /** The text that it must have. */
  readonly text: string;
}

export const referenceFile: CommittedFile = {
  url: new URL('../REFERENCE.md', import.meta.url),
  text: describeSettings(schemas),
};

/** What is committed: the reference, and the names of all settings with the services that take them. */
export const committedFiles: readonly CommittedFile[] = [
  referenceFile,
  { url: new URL('../settings.json', import.meta.url), text: describeNames() },
];

/** For `npm start`, which would take a second longer if it loaded the schemas. */
function describeNames(): string {
  const names: Record<string, string[]> = {};
  for (const { name, takers } of settingsOf(schemas)) {
    names[name] = takers.map(({ service }) => service);
    if (takers.some(({ schema }) => takesFile(schema))) names[`${name}_FILE`] = names[name];
  }
  const lines = Object.entries(names).map(([name, services]) => `  ${JSON.stringify(name)}: ${list(services)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** On one line, as the formatter wants it where it fits. */
function list(services: readonly string[]): string {
  return `[${services.map((service) => JSON.stringify(service)).join(', ')}]`;
}
