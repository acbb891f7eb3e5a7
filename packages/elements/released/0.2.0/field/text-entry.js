import { fillsMask, formatByMask } from "./format-mask.js";
export function entriesOf({ title, name = '', mask, pattern }) {
    const whole = pattern === undefined ? undefined : new RegExp(`^(?:${pattern})$`, 'v');
    const inputmode = mask && !/[a*]/.test(mask) ? 'numeric' : 'text';
    const quiet = { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', dir: 'auto' };
    return [
        {
            title,
            attributes: { name, inputmode, maxlength: '10000', ...quiet },
            ...(mask !== undefined && { format: formatByMask(mask) }),
            read: (text) => ((mask === undefined ? text !== '' : fillsMask(mask, text)) ? text : undefined),
            ...(whole && { isRight: (text) => whole.test(text) }),
        },
    ];
}
