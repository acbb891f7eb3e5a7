import type { ConsoleLine } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import { isCardNumber } from '@sluice/vault';
import { type Found, type SecretFinder, secretFinder } from './find-secrets.ts';
import { encodingsOf, formsOf, separators } from './forms.ts';

export const redactedMark = '[redacted]';
export const withheldMark = '[withheld: it may show a secret]';

const charactersOfPiece = 4096;
/** Shorter finds across blanks and dashes are often parts of ordinary words. */
const shortestGrouped = 6;
/** This much of the beginning of a form is found if a text was cut. */
const beginning = 9;

/** All API and proxy keys, and possible card numbers. */
const apiKey = /svc_[a-z0-9]{1,16}_[a-z]{3}_[0-9A-Za-z]{8,}/gi;
const proxyKey = /(?<![0-9A-Za-z])[0-9A-Za-z]{32}(?![0-9A-Za-z])/g;
/** Too short to be recognised by its digits, so by the name before it. */
const cvc =
  /(?<![a-z])((?:cvc|cvv|csc|security_?code|verification_?(?:value|code))2?["']?(?:\s*[:=]\s*|\s+)["']?)\d{3,4}(?!\d)/gi;
const cardNumber = /(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)/g;

/**
 * Marks the secrets in each line. A line with an encoded secret is withheld, because what was encoded with it may be
 * another secret, which is in no list. Without `secrets` every line is withheld.
 */
export function* redactConsole(
  lines: readonly ConsoleLine[],
  secrets: readonly string[] | undefined,
): Pieces<ConsoleLine[]> {
  if (!secrets) return lines.map(({ level }) => ({ level, text: withheldMark }));
  const finder = yield* secretFinder(formsOfAll(secrets));
  const encoded = new Set(secrets.flatMap(encodingsOf).map(beginningOf));
  const cleaned: ConsoleLine[] = [];
  let characters = 0;
  for (const { level, text } of lines) {
    const found = yield* findAll(text, finder);
    const isEncoded = found.some(({ start, end }) => encoded.has(beginningOf(text.slice(start, end))));
    cleaned.push({ level, text: isEncoded ? withheldMark : redactKnownForms(withMarks(text, found)) });
    characters += text.length;
    if (characters < charactersOfPiece) continue;
    characters = 0;
    yield;
  }
  return cleaned;
}

const beginningOf = (text: string) => text.replace(separators, '').slice(0, beginning).toLowerCase();

function* formsOfAll(secrets: readonly string[]): Generator<string> {
  for (const secret of secrets) yield* formsOf(secret);
}

/** In order; searches the text as it is, and without the blanks and dashes that group digits or bytes. */
function* findAll(text: string, finder: SecretFinder): Pieces<Found[]> {
  const found = yield* finder.findIn(text);
  const joined = text.replace(separators, '');
  if (joined.length === text.length) return found;
  const grouped = (yield* finder.findIn(joined)).filter(({ start, end }) => end - start >= shortestGrouped);
  if (grouped.length === 0) return found;
  const places = Array.from(text.matchAll(/[^\s-]/g), ({ index }) => index);
  const inText = grouped.map(({ start, end }) => ({ start: places[start] ?? 0, end: (places[end - 1] ?? 0) + 1 }));
  return [...found, ...inText].sort((a, b) => a.start - b.start);
}

function withMarks(text: string, found: readonly Found[]): string {
  let shown = '';
  let position = 0;
  for (const { start, end } of found) {
    // Both searches may have found the same.
    if (start >= position) shown += text.slice(position, start) + redactedMark;
    position = Math.max(position, end);
  }
  return shown + text.slice(position);
}

function redactKnownForms(text: string): string {
  return text
    .replace(apiKey, redactedMark)
    .replace(proxyKey, redactedMark)
    .replace(cvc, `$1${redactedMark}`)
    .replace(cardNumber, (text) => (isCardNumber(text.replace(/\D/g, '')) ? redactedMark : text));
}
