import { takeBack, withPlainDigits } from "./digits.js";
const places = { 9: /\d/, a: /\p{L}/u, '*': /[\p{L}\d]/u };
const canBeTyped = /[\p{L}\d]/u;
export function formatByMask(mask) {
    const unknown = [...mask].find((character) => !places[character] && canBeTyped.test(character));
    if (unknown)
        throw new Error(`A mask must not contain ${unknown}. 9 stands for a digit, a for a letter, * for either; other letters and digits are not allowed`);
    return (typed, before) => {
        const { shown, behindLast, isFull, left } = fill(mask, typed.text);
        if (left > 0 && isFull && fill(mask, before).isFull)
            return takeBack(typed, before);
        if (left > 0 && typed.text.length < before.length)
            return typed;
        const toCaret = fill(mask, typed.text.slice(0, typed.caret));
        const isAtEnd = toCaret.isFull || toCaret.behindLast === behindLast;
        return { text: shown, caret: isAtEnd ? shown.length : toCaret.behindLast };
    };
}
export function fillsMask(mask, text) {
    const { shown, isFull } = fill(mask, text);
    return isFull && shown === text;
}
function fill(mask, text) {
    const typed = [...withPlainDigits(text)].filter((character) => canBeTyped.test(character));
    const count = typed.length;
    let [shown, behindLast, used] = ['', 0, 0];
    let waiting = '';
    for (const character of mask) {
        const place = places[character];
        if (!place) {
            waiting += character;
            continue;
        }
        let next = typed.shift();
        while (next !== undefined && !place.test(next))
            next = typed.shift();
        if (next === undefined)
            return { shown, behindLast, isFull: false, left: count - used };
        shown += waiting + next;
        waiting = '';
        behindLast = shown.length;
        used++;
    }
    return { shown: shown + waiting, behindLast, isFull: true, left: count - used };
}
