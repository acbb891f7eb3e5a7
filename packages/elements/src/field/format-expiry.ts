import { caretBehind, digitsOf, type Format, takeBack, withPlainDigits } from './digits.ts';

const between = ' / ';

/** As browsers fill in a month: `2030-12`. */
const yearFirst = /^\s*(\d{4})\D+(\d{1,2})\s*$/;

/**
 * `12 / 30`, or `12 / 2030` if the year was typed with four digits. A first digit from 2 to 9 gets a leading zero, and so does a
 * single digit before a typed separator. A deletion changes nothing else, so that another digit can be typed there.
 */
export const formatExpiry: Format = (typed, before) => {
  const text = withPlainDigits(typed.text);
  const [, isoYear, isoMonth] = yearFirst.exec(text) ?? [];
  if (isoYear && isoMonth) return formatExpiry(atEnd(`${isoMonth}/${isoYear}`), '');

  const wasSplit = before.includes(between);
  const { month, year, isSplit } = split(wasSplit ? text : text.replace(/^\D+/, ''));
  const hasLess = digitsOf(text).length < digitsOf(before).length;
  const isTooLong = !hasLess && year.length > yearLength(year);
  if (isTooLong && wasSplit && digitsOf(before).length > 3) return takeBack(typed, before);

  const isPadded = !hasLess && month.length === 1 && (isSplit ? typed.caret > 1 : month > '1' || year !== '');
  const shownMonth = isPadded ? `0${month}` : month;
  const shownYear = hasLess ? year : year.slice(0, yearLength(year));
  const shown = shownMonth.length === 2 || shownYear !== '' ? shownMonth + between + shownYear : shownMonth;
  const digits = digitsOf(text.slice(0, typed.caret)).length;
  const caret = caretBehind(digits + (isPadded && digits > 0 ? 1 : 0), shown);
  const isInYear = isSplit && typed.caret > month.length + 1;
  return { text: shown, caret: isInYear ? Math.max(caret, shown.length - shownYear.length) : caret };
};

/** A third digit of the month begins the year. Where nothing separates them, 13 is January of a year that begins with 3. */
function split(text: string) {
  const [, first = '', separator = '', rest = ''] = /^(\d*)(\D*)(.*)$/s.exec(text) ?? [];
  const isSplit = separator !== '';
  const length = !isSplit && (Number(first.slice(0, 2)) > 12 || first.charAt(0) > '1') ? 1 : 2;
  return { month: first.slice(0, length), year: first.slice(length) + digitsOf(rest), isSplit };
}

function yearLength(year: string): number {
  return year.startsWith('20') ? 4 : 2;
}

function atEnd(text: string) {
  return { text, caret: text.length };
}

/** The text once the person has left the input: a month of one digit gets a leading zero. */
export function settleExpiry(text: string): string {
  return /^\d\D/.test(text) ? `0${text}` : text;
}

/** Undefined while incomplete, for a month that is over, and for one so far ahead that a digit must be wrong. */
export function readExpiry(text: string, now: Date) {
  const [, month, year] = /^(\d{1,2})\D+(\d{2}|\d{4})$/.exec(text) ?? [];
  if (!month || !year) return undefined;
  const expiration = { expiration_month: Number(month), expiration_year: Number(year.padStart(4, '20')) };
  const ahead =
    (expiration.expiration_year - now.getFullYear()) * 12 + expiration.expiration_month - now.getMonth() - 1;
  const isMonth = expiration.expiration_month >= 1 && expiration.expiration_month <= 12;
  return isMonth && ahead >= 0 && ahead <= 50 * 12 ? expiration : undefined;
}
