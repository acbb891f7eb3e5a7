export function makeInput({ title, attributes, format, settle }) {
    const input = document.createElement('input');
    for (const [name, value] of Object.entries(attributes))
        input.setAttribute(name, value);
    input.setAttribute('aria-label', title);
    if (format)
        showAsFormatted(input, format, settle);
    return input;
}
function showAsFormatted(input, format, settle) {
    let before = '';
    const show = ({ text, caret }) => {
        before = text;
        if (input.value === text && input.selectionStart === caret)
            return;
        input.value = text;
        if (document.activeElement === input)
            input.setSelectionRange(caret, caret);
    };
    const reformat = () => {
        const caret = input.selectionStart ?? input.value.length;
        show(format({ text: input.value, caret }, before));
    };
    input.addEventListener('beforeinput', ({ inputType }) => {
        if (inputType === 'deleteContentBackward')
            skipSeparators(input, -1);
        if (inputType === 'deleteContentForward')
            skipSeparators(input, 1);
    });
    input.addEventListener('input', (event) => {
        if (!event.isComposing)
            reformat();
    });
    input.addEventListener('compositionend', () => input.dispatchEvent(new Event('input')));
    if (settle)
        input.addEventListener('blur', () => show({ text: settle(input.value), caret: 0 }));
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
