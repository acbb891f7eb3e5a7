import type { ConsoleLine } from '@sluice/sandbox';
import { newFragmentFinder, squeeze } from './fragments.ts';

export const redactedMark = '[redacted]';
export const withheldMark = '[withheld: it may show a secret]';

/** Shorter ones are found only where they stand alone: "12" is in many words. */
const shortest = 4;

/** API keys, proxy keys, and what looks like the number of a card, whoever's they are. */
const apiKey = /svc_[a-z0-9]{1,16}_[a-z]{3}_[0-9A-Za-z]{8,}/gi;
const proxyKey = /(?<![0-9A-Za-z])[0-9A-Za-z]{32}(?![0-9A-Za-z])/g;
const cardNumber = /(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)/g;

/**
 * Console text without secrets: what appears as it is, in any case or escaped for JSON, gives way to a mark; a line with
 * a part of a secret, spread over the lines, or in an encoding, is withheld whole. In doubt more goes than must.
 * @param secrets undefined where there are too many to look for: then every line is withheld.
 */
export function redactConsole(lines: readonly ConsoleLine[], secrets: readonly string[] | undefined): ConsoleLine[] {
  if (!secrets) return lines.map(({ level }) => ({ level, text: withheldMark }));
  const pattern = patternOf(secrets);
  const cleaned = lines.map(({ level, text }) => ({ level, text: redactText(text, pattern) }));
  const squeezed = cleaned.map(({ text }) => squeeze(text.replaceAll(redactedMark, '')));
  const touched = newFragmentFinder(squeezed).linesWith(secrets);
  return cleaned.map((line, index) => (touched.has(index) ? { level: line.level, text: withheldMark } : line));
}

function redactText(text: string, pattern: RegExp | undefined): string {
  const known = pattern ? text.replace(pattern, redactedMark) : text;
  return known
    .replace(apiKey, redactedMark)
    .replace(proxyKey, redactedMark)
    .replace(cardNumber, (digits) => (isCardNumber(digits) ? redactedMark : digits));
}

/** One pattern for all, the longest first, so that no secret hides the rest of a longer one. */
function patternOf(secrets: readonly string[]): RegExp | undefined {
  const forms = new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]));
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return undefined;
  return new RegExp(longestFirst.map(alternative).join('|'), 'gi');
}

function alternative(text: string): string {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return text.length < shortest ? `(?<![0-9A-Za-z])${literal}(?![0-9A-Za-z])` : literal;
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
