import { caretBehind, digitsOf, editOf, type Format, refuse, takeBack, withPlainDigits } from './digits.ts';

const between = ' / ';

/**
 * `12 / 30`, or `12 / 2030` if the year was typed with four digits. A first digit from 2 to 9 gets a leading zero, and so does a
 * single digit before a typed separator. A deletion changes nothing else, so that another digit can be typed there. A whole date
 * that is pasted or filled in becomes its month and year, if that can be only one.
 */
export const formatExpiry: Format = (typed, before) => {
  const text = withPlainDigits(typed.text);
  const edit = editOf(typed, before);
  const isSeveral = edit.brought.length > 1;
  const isWhole = digitsOf(edit.head + edit.tail) === '';
  const date = isSeveral ? readDate(text, isWhole) : undefined;
  if (date === 'unclear') return refuse(typed, before);
  if (date) return atEnd(date);

  const wasSplit = before.includes(between);
  const { month, year, isSplit } = split(wasSplit ? text : text.replace(/^\D+/, ''));
  const hasLess = digitsOf(text).length < digitsOf(before).length;
  const isTooLong = year.length > yearLength(year);
  if (isTooLong && isSeveral) return refuse(typed, before);
  if (isTooLong && !hasLess && wasSplit && digitsOf(before).length > 3) return takeBack(typed, before);

  const isPadded = !hasLess && month.length === 1 && (isSplit ? typed.caret > 1 : month > '1' || year !== '');
  const shownMonth = isPadded ? `0${month}` : month;
  const shownYear = hasLess ? year : year.slice(0, yearLength(year));
  const shown = shownMonth.length === 2 || shownYear !== '' ? shownMonth + between + shownYear : shownMonth;
  // With a separator behind it, the year is the day of a whole date, so nothing that is typed may become its year.
  if (year.length === 2 && /\d\D*[^\d\s]\D*$/.test(text)) return atEnd(shown + between);
  const digits = digitsOf(text.slice(0, typed.caret)).length;
  const caret = caretBehind(digits + (isPadded && digits > 0 ? 1 : 0), shown);
  const isInYear = isSplit && typed.caret > month.length + 1;
  return { text: shown, caret: isInYear ? Math.max(caret, shown.length - shownYear.length) : caret };
};

/**
 * Month and year of `2030-12`, `203012`, `2030-12-31`, `12/31/2030` or `31.12.2030`. Undefined for less than a whole date,
 * which is read as it is typed; unclear for any other date of three numbers.
 *
 * @param isWhole whether it came into an empty field at once; otherwise six digits are a month and a year.
 */
function readDate(text: string, isWhole: boolean): string | 'unclear' | undefined {
  const numbers = text.split(/\D+/).filter((number) => number !== '');
  const [first = '', second = '', third = ''] = numbers;
  if (numbers.length === 1 && isWhole && /^[2-9]\d{3}(0[1-9]|1[0-2])$/.test(first)) {
    return first.slice(4) + between + first.slice(0, 4);
  }
  if (numbers.length === 2 && /^\d{4}$/.test(first) && isMonth(second)) return inTwoDigits(second) + between + first;
  if (numbers.length < 3) return undefined;
  if (numbers.length > 3) return 'unclear';
  if (/^\d{4}$/.test(first)) return isMonth(second) && isDay(third) ? inTwoDigits(second) + between + first : 'unclear';
  if (!/^\d{4}$/.test(third)) return 'unclear';
  const months = [isMonth(first) && isDay(second) ? first : '', isMonth(second) && isDay(first) ? second : ''];
  const [month, ...others] = months.filter((one) => one !== '');
  return month && others.length === 0 ? inTwoDigits(month) + between + third : 'unclear';
}

const isMonth = (text: string) => /^(0?[1-9]|1[0-2])$/.test(text);
const isDay = (text: string) => /^(0?[1-9]|[12]\d|3[01])$/.test(text);
const inTwoDigits = (text: string) => text.padStart(2, '0');

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
