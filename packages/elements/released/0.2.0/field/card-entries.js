import { brandOf, cardKindOf, isWholeNumber, longestNumber } from "./cards.js";
import { digitsOf } from "./digits.js";
import { formatExpiry, readExpiry, settleExpiry } from "./format-expiry.js";
import { formatCvc, formatNumber } from "./format-number.js";
const input = (name, autocomplete, placeholder) => ({
    ...{ name, autocomplete, placeholder },
    inputmode: 'numeric',
    spellcheck: 'false',
});
const number = {
    attributes: input('cardnumber', 'cc-number', '1234 1234 1234 1234'),
    format: formatNumber,
    read: (text) => (isWholeNumber(digitsOf(text)) ? { number: digitsOf(text) } : undefined),
    tell(text, isLeft) {
        const digits = digitsOf(text);
        const brand = brandOf(digits);
        const isFinal = isLeft || digits.length === longestNumber(digits);
        return { name: cardKindOf(digits).name, ...(brand && { brand }), ...(isFinal && { last4: digits.slice(-4) }) };
    },
};
const expiry = {
    attributes: input('cc-exp', 'cc-exp', 'MM / YY'),
    format: formatExpiry,
    settle: settleExpiry,
    read: (text) => readExpiry(text, new Date()),
};
const cvc = {
    attributes: input('cvc', 'cc-csc', 'CVC'),
    format: formatCvc,
    followsNumber: true,
    read(text, of = '') {
        const isRight = /^\d+$/.test(text) && cardKindOf(digitsOf(of)).cvcLengths.includes(text.length);
        return isRight ? { cvc: text } : undefined;
    },
};
export function entriesOf({ kind, title, words = {} }) {
    if (kind !== 'card')
        return [{ title, ...(kind === 'number' ? number : kind === 'expiry' ? expiry : cvc) }];
    return [
        { ...number, title: words.number ?? 'Card number' },
        { ...expiry, title: words.expiry ?? 'Expiry date' },
        { ...cvc, title: words.cvc ?? 'Security code' },
    ];
}
