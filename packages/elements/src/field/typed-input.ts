import type { Format, Typed } from './digits.ts';
import type { Entry } from './entry.ts';

/** An input that shows what is typed as its entry formats it, with the caret where the person has it. */
export function makeInput({ title, attributes, format, settle }: Entry): HTMLInputElement {
  const input = document.createElement('input');
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  input.setAttribute('aria-label', title);
  if (format) showAsFormatted(input, format, settle);
  return input;
}

function showAsFormatted(input: HTMLInputElement, format: Format, settle: Entry['settle']) {
  let before = '';
  const show = ({ text, caret }: Typed) => {
    before = text;
    if (input.value === text && input.selectionStart === caret) return;
    input.value = text;
    // If the input has no focus, some browsers would move the focus to it.
    if (document.activeElement === input) input.setSelectionRange(caret, caret);
  };
  const reformat = () => {
    const caret = input.selectionStart ?? input.value.length;
    show(format({ text: input.value, caret }, before));
  };
  input.addEventListener('beforeinput', ({ inputType }) => {
    if (inputType === 'deleteContentBackward') skipSeparators(input, -1);
    if (inputType === 'deleteContentForward') skipSeparators(input, 1);
  });
  // Text that an input method composes is formatted at the end, because a change would abort the composition.
  input.addEventListener('input', (event) => {
    if (!(event as InputEvent).isComposing) reformat();
  });
  input.addEventListener('compositionend', () => input.dispatchEvent(new Event('input')));
  if (settle) input.addEventListener('blur', () => show({ text: settle(input.value), caret: 0 }));
}

/** Moves the caret past separators before a deletion, because formatting would restore a deleted separator. */
function skipSeparators(input: HTMLInputElement, step: 1 | -1) {
  const { value, selectionStart, selectionEnd } = input;
  if (selectionStart === null || selectionStart !== selectionEnd) return;
  let caret = selectionStart;
  const next = () => value.charAt(step < 0 ? caret - 1 : caret);
  while (next() !== '' && /[^\p{L}\d]/u.test(next())) caret += step;
  input.setSelectionRange(caret, caret);
}
