const usual = { name: '', ranges: [], lengths: [16], cvcLengths: [3] };
const unknown = { ...usual, lengths: [12, 13, 14, 15, 16, 17, 18, 19], cvcLengths: [3, 4] };
const brands = {
    visa: { ...usual, name: 'Visa', ranges: [[4, 4]], lengths: [16, 18, 19] },
    mastercard: { ...usual, name: 'Mastercard', ranges: [[51, 55], [2221, 2720]] },
    amex: { name: 'Amex', ranges: [[34, 34], [37, 37]], lengths: [15], cvcLengths: [4] },
    discover: { ...usual, name: 'Discover', ranges: [[6011, 6011], [644, 649], [65, 65]], lengths: [16, 19] },
    diners: { ...usual, name: 'Diners', ranges: [[300, 305], [3095, 3095], [36, 36], [38, 39]], lengths: [14, 16, 19] },
    jcb: { ...usual, name: 'JCB', ranges: [[3528, 3589]], lengths: [16, 17, 18, 19] },
    unionpay: { ...usual, name: 'UnionPay', ranges: [[62, 62], [81, 81]], lengths: [14, 15, 16, 17, 18, 19] },
    maestro: {
        ...unknown, name: 'Maestro', cvcLengths: [3],
        ranges: [[500000, 504174], [504176, 506098], [56, 58], [6304, 6304], [6390, 6390], [67, 67]],
    },
};
export function brandOf(digits) {
    if (digits === '')
        return undefined;
    const [lowest, highest] = ['0', '9'].map((filling) => Number(digits.padEnd(6, filling).slice(0, 6)));
    return Object.keys(brands).find((brand) => brands[brand].ranges.some(([from, to]) => {
        const scale = 10 ** (6 - String(from).length);
        return lowest >= from * scale && highest < (to + 1) * scale;
    }));
}
export function cardKindOf(digits) {
    const brand = brandOf(digits);
    return brand ? brands[brand] : unknown;
}
export function longestNumber(digits) {
    return Math.max(...cardKindOf(digits).lengths);
}
export function isWholeNumber(digits) {
    return cardKindOf(digits).lengths.includes(digits.length) && (brandOf(digits) === 'unionpay' || passesLuhn(digits));
}
function passesLuhn(digits) {
    let sum = 0;
    for (let i = 0; i < digits.length; i++) {
        const digit = Number(digits[digits.length - 1 - i]) * (1 + (i % 2));
        sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 === 0;
}
export function showNumber(digits) {
    const brand = brandOf(digits);
    const isPrintedInThree = brand === 'amex' || (brand === 'diners' && digits.length <= 14);
    const groups = isPrintedInThree ? /^(\d{1,4})(\d{0,6})(\d*)$/ : /^(\d{0,4})(\d{0,4})(\d{0,4})(\d{0,4})(\d*)$/;
    const [, ...found] = groups.exec(digits) ?? [];
    return found.filter((group) => group !== '').join(' ');
}
