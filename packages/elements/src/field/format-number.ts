import { isWholeNumber, longestNumber, showNumber } from './cards.ts';
import {
  caretBehind,
  digitsOf,
  type Edit,
  editOf,
  type Format,
  refuse,
  type Shown,
  type Typed,
  takeBack,
  withPlainDigits,
} from './digits.ts';

export const formatNumber: Format = (typed, before) => {
  const edit = editOf(typed, before);
  // Digits that one key types are all meant.
  if (edit.brought.length > 1) return formatSeveral(typed, before, edit);
  const digits = digitsOf(typed.text);
  const hasMore = digits.length >= digitsOf(before).length;
  return hasMore && digits.length > longestNumber(digits) ? takeBack(typed, before) : show(digits, typed);
};

/** What people paste has an expiry or a code behind the number, which must not become digits of it. */
function formatSeveral(typed: Typed, before: string, { head, brought, tail }: Edit): Shown {
  const text = withPlainDigits(brought).replace(/\p{Cf}/gu, '');
  const [kept = ''] = /^[^\d]*[\d\s\p{Pd}\u2212]*/u.exec(text) ?? [];
  const isCut = kept.length < text.length;
  // Blanks that this field has put into the text say nothing about groups.
  const groups = (digitsOf(head) + kept + digitsOf(tail)).split(/\D+/).filter((group) => group !== '');
  const digits = groups.join('');
  const isTooLong = digits.length > longestNumber(digits);
  const beginnings = groups.slice(0, -1).map((_, last) => groups.slice(0, last + 1).join(''));
  const candidates = beginnings.filter(isWholeNumber);
  const [candidate] = candidates;
  if (!candidate) return isTooLong ? refuse(typed, before) : show(digits, typed);
  if (isCut || isTooLong) return candidates.length === 1 ? show(candidate, typed) : refuse(typed, before);
  return isWholeNumber(digits) ? refuse(typed, before) : show(digits, typed);
}

function show(digits: string, { text, caret }: Typed): Shown {
  const shown = showNumber(digits);
  return { text: shown, caret: caretBehind(digitsOf(text.slice(0, caret)).length, shown) };
}

export const formatCvc: Format = (typed, before) => {
  const digits = digitsOf(typed.text);
  if (digits.length > 4)
    return editOf(typed, before).brought.length > 1 ? refuse(typed, before) : takeBack(typed, before);
  return { text: digits, caret: caretBehind(digitsOf(typed.text.slice(0, typed.caret)).length, digits) };
};
