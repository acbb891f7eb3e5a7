import { caretBehind, digitsOf, takeBack, withPlainDigits } from "./digits.js";
const between = ' / ';
const yearFirst = /^\s*(\d{4})\D+(\d{1,2})\s*$/;
export const formatExpiry = (typed, before) => {
    const text = withPlainDigits(typed.text);
    const [, isoYear, isoMonth] = yearFirst.exec(text) ?? [];
    if (isoYear && isoMonth)
        return formatExpiry(atEnd(`${isoMonth}/${isoYear}`), '');
    const wasSplit = before.includes(between);
    const { month, year, isSplit } = split(wasSplit ? text : text.replace(/^\D+/, ''));
    const hasLess = digitsOf(text).length < digitsOf(before).length;
    const isTooLong = !hasLess && year.length > yearLength(year);
    if (isTooLong && wasSplit && digitsOf(before).length > 3)
        return takeBack(typed, before);
    const isPadded = !hasLess && month.length === 1 && (isSplit ? typed.caret > 1 : month > '1' || year !== '');
    const shownMonth = isPadded ? `0${month}` : month;
    const shownYear = hasLess ? year : year.slice(0, yearLength(year));
    const shown = shownMonth.length === 2 || shownYear !== '' ? shownMonth + between + shownYear : shownMonth;
    const digits = digitsOf(text.slice(0, typed.caret)).length;
    const caret = caretBehind(digits + (isPadded && digits > 0 ? 1 : 0), shown);
    const isInYear = isSplit && typed.caret > month.length + 1;
    return { text: shown, caret: isInYear ? Math.max(caret, shown.length - shownYear.length) : caret };
};
function split(text) {
    const [, first = '', separator = '', rest = ''] = /^(\d*)(\D*)(.*)$/s.exec(text) ?? [];
    const isSplit = separator !== '';
    const length = !isSplit && (Number(first.slice(0, 2)) > 12 || first.charAt(0) > '1') ? 1 : 2;
    return { month: first.slice(0, length), year: first.slice(length) + digitsOf(rest), isSplit };
}
function yearLength(year) {
    return year.startsWith('20') ? 4 : 2;
}
function atEnd(text) {
    return { text, caret: text.length };
}
export function settleExpiry(text) {
    return /^\d\D/.test(text) ? `0${text}` : text;
}
export function readExpiry(text, now) {
    const [, month, year] = /^(\d{1,2})\D+(\d{2}|\d{4})$/.exec(text) ?? [];
    if (!month || !year)
        return undefined;
    const expiration = { expiration_month: Number(month), expiration_year: Number(year.padStart(4, '20')) };
    const ahead = (expiration.expiration_year - now.getFullYear()) * 12 + expiration.expiration_month - now.getMonth() - 1;
    const isMonth = expiration.expiration_month >= 1 && expiration.expiration_month <= 12;
    return isMonth && ahead >= 0 && ahead <= 50 * 12 ? expiration : undefined;
}
