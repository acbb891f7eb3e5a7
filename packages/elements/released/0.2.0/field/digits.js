const zeros = [0xff10, 0x660, 0x6f0, 0x966, 0x9e6];
export function withPlainDigits(text) {
    return text.replace(/\p{Nd}/gu, (digit) => {
        const zero = zeros.find((first) => digit >= String.fromCharCode(first) && digit <= String.fromCharCode(first + 9));
        return zero ? String(digit.charCodeAt(0) - zero) : digit;
    });
}
export function digitsOf(text) {
    return withPlainDigits(text).replace(/\D/g, '');
}
export function caretBehind(digits, text) {
    let missing = digits;
    for (let at = 0; at < text.length; at++) {
        if (missing === 0 && /\d/.test(text.slice(at)))
            return at;
        if (/\d/.test(text.charAt(at)))
            missing--;
    }
    return text.length;
}
export function editOf({ text, caret }, before) {
    const tail = text.slice(caret);
    const kept = before.endsWith(tail) ? before.slice(0, before.length - tail.length) : '';
    let at = 0;
    while (at < caret && at < kept.length && text.charAt(at) === kept.charAt(at))
        at++;
    return { head: text.slice(0, at), brought: text.slice(at, caret), tail };
}
export function refuse(typed, before) {
    return { ...takeBack(typed, before), isRefused: true };
}
export function takeBack({ text, caret }, before) {
    return { text: before, caret: Math.max(0, before.length - (text.length - caret)) };
}
