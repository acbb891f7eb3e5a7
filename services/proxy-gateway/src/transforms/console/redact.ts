import type { ConsoleLine } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import { type Found, newSecretFinder } from './find-secrets.ts';
import { newFragmentFinder, squeeze } from './fragments.ts';

export const redactedMark = '[redacted]';
export const withheldMark = '[withheld: it may show a secret]';

const charactersOfPiece = 4096;

/** The keys of everybody, and what looks like a card number. */
const apiKey = /svc_[a-z0-9]{1,16}_[a-z]{3}_[0-9A-Za-z]{8,}/gi;
const proxyKey = /(?<![0-9A-Za-z])[0-9A-Za-z]{32}(?![0-9A-Za-z])/g;
const cardNumber = /(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)/g;

/** Marks literal secrets, and withholds lines with a part or an encoding of one; without `secrets`, every line. */
export function* redactConsole(
  lines: readonly ConsoleLine[],
  secrets: readonly string[] | undefined,
): Pieces<ConsoleLine[]> {
  if (!secrets) return lines.map(({ level }) => ({ level, text: withheldMark }));
  const finder = yield* newSecretFinder(formsOf(secrets));
  const cleaned: ConsoleLine[] = [];
  let characters = 0;
  for (const { level, text } of lines) {
    const shown = withMarks(text, yield* finder.findIn(text));
    cleaned.push({ level, text: redactKnownForms(shown) });
    characters += text.length;
    if (characters < charactersOfPiece) continue;
    characters = 0;
    yield;
  }
  const squeezed = cleaned.map(({ text }) => squeeze(text.replaceAll(redactedMark, '')));
  const fragments = newFragmentFinder(squeezed);
  yield;
  const touched = yield* fragments.linesWith(secrets);
  return cleaned.map((line, index) => (touched.has(index) ? { level: line.level, text: withheldMark } : line));
}

/** Each secret literally, and as JSON writes it within a string. */
function* formsOf(secrets: readonly string[]): Generator<string> {
  for (const secret of secrets) {
    yield secret;
    const escaped = JSON.stringify(secret).slice(1, -1);
    if (escaped !== secret) yield escaped;
  }
}

function withMarks(text: string, found: readonly Found[]): string {
  let shown = '';
  let position = 0;
  for (const { start, end } of found) {
    shown += text.slice(position, start) + redactedMark;
    position = end;
  }
  return shown + text.slice(position);
}

function redactKnownForms(text: string): string {
  return text
    .replace(apiKey, redactedMark)
    .replace(proxyKey, redactedMark)
    .replace(cardNumber, (digits) => (isCardNumber(digits) ? redactedMark : digits));
}

/** ISO/IEC 7812-1 annex B. */
function isCardNumber(text: string): boolean {
  const digits = [...text].filter((character) => character >= '0' && character <= '9').map(Number);
  const sum = digits.reverse().reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}
