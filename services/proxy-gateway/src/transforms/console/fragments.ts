import type { Pieces } from '@sluice/service-runtime';

/** This many consecutive characters of a secret count as giving it away. */
const fragmentLength = 8;
/** Shorter texts and encodings occur in too much that is harmless. */
const shortestSecret = 4;
const shortestEncoding = 6;

/** A piece of work searches for so many characters of forms; each form costs something, however short it is. */
const charactersOfPiece = 4096;
const formCost = 16;

/** Keeps only letters and digits, in lower case, so that separators, quotes and escapes cannot hide a secret. */
export function squeeze(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

export interface FragmentFinder {
  /** The lines that contain a part of a secret, plain or encoded, also across line ends. */
  linesWith(secrets: readonly string[]): Pieces<Set<number>>;
}

export function newFragmentFinder(lines: readonly string[]): FragmentFinder {
  const text = lines.join('');
  const lineAt = lines.flatMap((line, index) => Array<number>(line.length).fill(index));
  const placesBySize = new Map<number, Map<string, number[]>>();

  function placesOf(size: number): Map<string, number[]> {
    const known = placesBySize.get(size);
    if (known) return known;
    const places = new Map<string, number[]>();
    for (let at = 0; at + size <= text.length; at++) {
      const run = text.slice(at, at + size);
      const before = places.get(run);
      if (before) before.push(at);
      else places.set(run, [at]);
    }
    placesBySize.set(size, places);
    return places;
  }

  function mark(form: string, touched: Set<number>): void {
    const size = Math.min(fragmentLength, form.length);
    const places = placesOf(size);
    if (places.size === 0) return;
    for (let at = 0; at + size <= form.length; at++) {
      const run = form.slice(at, at + size);
      const found = places.get(run);
      if (!found) continue;
      // One search is enough, however often the secret repeats the run
      places.delete(run);
      for (const place of found) {
        for (let offset = 0; offset < size; offset++) touched.add(lineAt[place + offset] ?? 0);
      }
    }
  }

  return {
    linesWith: function* (secrets) {
      const touched = new Set<number>();
      if (text === '') return touched;
      const marked = new Set<string>();
      let characters = 0;
      for (const secret of secrets) {
        for (const form of formsOf(secret)) {
          if (marked.has(form)) continue;
          marked.add(form);
          const sizesBefore = placesBySize.size;
          mark(form, touched);
          characters += form.length + formCost;
          if (characters < charactersOfPiece && placesBySize.size === sizesBefore) continue;
          characters = 0;
          yield;
        }
      }
      return touched;
    },
  };
}

function formsOf(secret: string): string[] {
  const plain = squeeze(secret);
  if (plain.length < shortestSecret) return [];
  const bytes = Buffer.from(secret);
  const encoded = [
    [...plain].reverse().join(''),
    squeeze(JSON.stringify(secret)),
    squeeze(encodeURIComponent(secret.toWellFormed())),
    bytes.toString('hex'),
    [...bytes].join(''),
    ...[0, 1, 2].map((offset) => base64Core(bytes, offset)),
  ];
  return [plain, ...encoded.filter((form) => form.length >= shortestEncoding)];
}

/** The part of a text's base64 that does not depend on the surrounding text; equal in base64url. */
function base64Core(bytes: Buffer, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const first = [0, 2, 3][offset] ?? 0;
  const last = (bytes.length + offset) % 3 === 0 ? whole.length : whole.length - 1;
  return squeeze(whole.slice(first, last));
}
