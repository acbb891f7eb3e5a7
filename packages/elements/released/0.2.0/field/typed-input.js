export function makeInput({ title, attributes, format, settle }) {
    const input = document.createElement('input');
    for (const [name, value] of Object.entries(attributes))
        input.setAttribute(name, value);
    input.setAttribute('aria-label', title);
    let before = '';
    let isRefused = false;
    let isComposing = false;
    const show = ({ text, caret }) => {
        before = text;
        if (input.value === text && input.selectionStart === caret)
            return;
        input.value = text;
        if (document.activeElement === input)
            input.setSelectionRange(caret, caret);
    };
    const reformat = (by) => {
        const shown = by({ text: input.value, caret: input.selectionStart ?? input.value.length }, before);
        isRefused = shown.isRefused ?? false;
        show(shown);
    };
    const refresh = () => {
        if (input.value !== before && !isComposing)
            input.dispatchEvent(new Event('input'));
    };
    if (format) {
        input.addEventListener('beforeinput', ({ inputType }) => {
            if (inputType === 'deleteContentBackward')
                skipSeparators(input, -1);
            if (inputType === 'deleteContentForward')
                skipSeparators(input, 1);
        });
    }
    input.addEventListener('input', (event) => {
        isComposing = event.isComposing ?? false;
        if (isComposing)
            return;
        if (format)
            reformat(format);
        else
            before = input.value;
    });
    input.addEventListener('compositionend', () => input.dispatchEvent(new Event('input')));
    for (const name of ['change', 'keyup', 'blur'])
        input.addEventListener(name, refresh);
    if (settle)
        input.addEventListener('blur', () => show({ text: settle(input.value), caret: 0 }));
    return { input, refresh, isRefused: () => isRefused };
}
function skipSeparators(input, step) {
    const { value, selectionStart, selectionEnd } = input;
    if (selectionStart === null || selectionStart !== selectionEnd)
        return;
    let caret = selectionStart;
    const next = () => value.charAt(step < 0 ? caret - 1 : caret);
    while (next() !== '' && /[^\p{L}\d]/u.test(next()))
        caret += step;
    input.setSelectionRange(caret, caret);
}
