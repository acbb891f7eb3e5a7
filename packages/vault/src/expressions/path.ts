import { isObject, type Json } from '../json.ts';

export type Path = readonly (string | number)[];

const step = /\.([^\s.[\]'"*]+)|\[(?:'([^']*)'|"([^"]*)"|(-?\d{1,9}))\]/y;

/** Reads `$.card.number`, `data.list[0]`, `data['a name']`: RFC 9535 without wildcards, slices and filters. */
export function parsePath(text: string, root: string): Path | undefined {
  if (!text.startsWith(root)) return undefined;
  const path: (string | number)[] = [];
  step.lastIndex = root.length;
  while (step.lastIndex < text.length) {
    const match = step.exec(text);
    if (!match) return undefined;
    const [, member, single, double, position] = match;
    path.push(position === undefined ? (member ?? single ?? double ?? '') : Number(position));
  }
  return path;
}

const longestPathText = 200;

/** Shortens a very long path. */
export function formatPath(path: Path): string {
  let text = '$';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(part) ? `.${part}` : `['${part}']`;
    if (text.length > longestPathText) return `${text.slice(0, longestPathText).toWellFormed()}…`;
  }
  return text;
}

export function valueAt(value: Json, path: Path): Json | undefined {
  let current: Json | undefined = value;
  for (const part of path) {
    if (Array.isArray(current)) current = typeof part === 'number' ? current.at(part) : undefined;
    else current = isObject(current) && Object.hasOwn(current, part) ? current[part] : undefined;
  }
  return current;
}
