import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { nearName } from '@sluice/problems';
import { LaunchError } from '../launch-error.ts';

import { type ServiceName, settingsOfLauncher } from './services.ts';

export interface GivenSettings {
  /** By service, the settings that it takes. */
  ofServices: Partial<Record<ServiceName, Record<string, string>>>;
  /** A line for each variable that looks like a misspelt setting. */
  hints: string[];
}

/** Written by `npm run config`. */
const namesFile = new URL('../../../configuration/settings.json', import.meta.url);

/**
 * The settings of services in the environment of `npm start`. An empty variable counts as absent.
 * @param own names that the launcher itself reads.
 * @throws {LaunchError} naming settings that the launcher sets itself.
 */
export async function readGivenSettings(env: NodeJS.ProcessEnv, own: readonly string[]): Promise<GivenSettings> {
  const takers: Record<string, ServiceName[]> = JSON.parse(await readFile(namesFile, 'utf8'));
  const given = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const settings = given.filter(([name]) => Object.hasOwn(takers, name) && !own.includes(name));
  refuseThoseOfLauncher(settings.map(([name]) => name));
  const ofServices: GivenSettings['ofServices'] = {};
  for (const service of new Set(Object.values(takers).flat())) {
    const taken = settings.filter(([name]) => takers[name]?.includes(service));
    ofServices[service] = Object.fromEntries(taken.map(([name, value]) => [name, fromHere(name, value)]));
  }
  const known = [...Object.keys(takers), ...own];
  const hints = given.flatMap(([name]) => {
    const meant = known.includes(name) ? undefined : nearName(name, known);
    return meant === undefined ? [] : [`There is no setting ${name}; did you mean ${meant}?`];
  });
  return { ofServices, hints };
}

function refuseThoseOfLauncher(names: readonly string[]): void {
  const ofLauncher = settingsOfLauncher();
  const refused = names.filter((name) => ofLauncher.has(name.replace(/_FILE$/, '')));
  if (refused.length === 0) return;
  const unset = refused.map((name) => `-u ${name}`).join(' ');
  throw new LaunchError(
    `npm start sets ${refused.join(', ')} itself and cannot take another value; start without: env ${unset} npm start`,
  );
}

/** Makes paths absolute, because services do not run in the folder in which a path was typed. */
function fromHere(name: string, value: string): string {
  return /_(FILE|DIRECTORY)$/.test(name) ? resolve(value) : value;
}
