import { longestNumber, showNumber } from './cards.ts';
import { caretBehind, digitsOf, type Format, takeBack } from './digits.ts';

export const formatNumber: Format = (typed, before) => {
  const [digits, former] = [digitsOf(typed.text), digitsOf(before)];
  const longest = longestNumber(digits);
  if (digits.length > longest && former.length >= longest) return takeBack(typed, before);
  const text = showNumber(digits.slice(0, longest));
  return { text, caret: caretBehind(digitsOf(typed.text.slice(0, typed.caret)).length, text) };
};

export const formatCvc: Format = (typed, before) => {
  const digits = digitsOf(typed.text);
  if (digits.length > 4 && before.length === 4) return takeBack(typed, before);
  const text = digits.slice(0, 4);
  return { text, caret: caretBehind(digitsOf(typed.text.slice(0, typed.caret)).length, text) };
};
