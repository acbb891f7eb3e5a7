import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const folder = new URL('../guest/', import.meta.url);

export function readGuestSources(): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const own = names.map((name): [string, string] => [withoutEnding(name), readFileSync(new URL(name, folder), 'utf8')]);
  return new Map([...own, ...streamSources()]);
}

/** Each file of readable-stream becomes a module that exports a function of `exports, require, module`. */
function streamSources(): [string, string][] {
  const root = dirname(createRequire(import.meta.url).resolve('readable-stream/package.json'));
  const names = readdirSync(join(root, 'lib'), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.js'))
    .map((name) => [
      `readable-stream/lib/${withoutEnding(name)}`,
      `export const body = function (exports, require, module) {${readFileSync(join(root, 'lib', name), 'utf8')}\n};`,
    ]);
}

const withoutEnding = (name: string) => name.slice(0, -'.js'.length);
