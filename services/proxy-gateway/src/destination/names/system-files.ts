import type { LookupAddress } from 'node:dns';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

const checkedEveryMs = 1000;

/** Parses again when the file has changed, checking at most once a second. */
export function watchedFile<T>(path: string, parse: (text: string) => T): () => T {
  let checkedAt = performance.now();
  let changedAt = changeOf(path);
  let value = parse(readIfThere(path));
  return () => {
    if (performance.now() - checkedAt < checkedEveryMs) return value;
    checkedAt = performance.now();
    const change = changeOf(path);
    if (change !== changedAt) {
      changedAt = change;
      value = parse(readIfThere(path));
    }
    return value;
  };
}

function changeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function readIfThere(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, 'utf8') : '';
}

function linesOf(text: string): string[][] {
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .split(/\s+/)
      .filter((word) => word !== ''),
  );
}

export function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of linesOf(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of new Set(names.map((each) => each.toLowerCase()))) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}

export interface SearchRules {
  search: string[];
  /** Names with fewer dots are first tried with the search list. */
  ndots: number;
}

/** Reads a text in the form of resolv.conf(5); the last line of a kind counts. */
export function parseSearchRules(text: string): SearchRules {
  const rules: SearchRules = { search: [], ndots: 1 };
  for (const [keyword, ...words] of linesOf(text)) {
    if (keyword === 'search' || keyword === 'domain') rules.search = words.map((word) => word.replace(/\.$/, ''));
    if (keyword !== 'options') continue;
    const ndots = words.flatMap((word) => /^ndots:(\d{1,2})$/.exec(word)?.[1] ?? []).at(-1);
    if (ndots !== undefined) rules.ndots = Number(ndots);
  }
  return rules;
}

/** The names to query, in order. A trailing dot marks a complete name. */
export function candidates(name: string, { search, ndots }: SearchRules): string[] {
  if (name.endsWith('.')) return [name];
  const searched = search.filter((domain) => domain !== '').map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...searched] : [...searched, name];
}
