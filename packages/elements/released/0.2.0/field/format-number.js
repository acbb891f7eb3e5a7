import { longestNumber, showNumber } from "./cards.js";
import { caretBehind, digitsOf, takeBack } from "./digits.js";
export const formatNumber = (typed, before) => {
    const [digits, former] = [digitsOf(typed.text), digitsOf(before)];
    const longest = longestNumber(digits);
    if (digits.length > longest && former.length >= longest)
        return takeBack(typed, before);
    const text = showNumber(digits.slice(0, longest));
    return { text, caret: caretBehind(digitsOf(typed.text.slice(0, typed.caret)).length, text) };
};
export const formatCvc = (typed, before) => {
    const digits = digitsOf(typed.text);
    if (digits.length > 4 && before.length === 4)
        return takeBack(typed, before);
    const text = digits.slice(0, 4);
    return { text, caret: caretBehind(digitsOf(typed.text.slice(0, typed.caret)).length, text) };
};
