import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../guest/', import.meta.url);

/** The text of every file that is evaluated inside QuickJS, by its name without ending. */
export function readGuestSources(): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  return new Map(names.map((name) => [name.slice(0, -3), readFileSync(new URL(name, folder), 'utf8')]));
}
