import type { Format, Shown } from './digits.ts';
import type { Entry } from './entry.ts';

/** An input that shows what is typed as its entry formats it, with the caret where the person has it. */
export interface TypedInput {
  input: HTMLInputElement;
  /** Reads what was set without an `input` event, as password managers do, as if there had been one. */
  refresh(): void;
  /** Whether the last edit was refused, so that the field does not show what the person has pasted. */
  isRefused(): boolean;
}

export function makeInput({ title, attributes, format, settle }: Entry): TypedInput {
  const input = document.createElement('input');
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  input.setAttribute('aria-label', title);
  let before = '';
  let isRefused = false;
  let isComposing = false;

  const show = ({ text, caret }: Shown) => {
    before = text;
    if (input.value === text && input.selectionStart === caret) return;
    input.value = text;
    // If the input has no focus, some browsers would move the focus to it.
    if (document.activeElement === input) input.setSelectionRange(caret, caret);
  };
  const reformat = (by: Format) => {
    const shown = by({ text: input.value, caret: input.selectionStart ?? input.value.length }, before);
    isRefused = shown.isRefused ?? false;
    show(shown);
  };
  const refresh = () => {
    if (input.value !== before && !isComposing) input.dispatchEvent(new Event('input'));
  };

  if (format) {
    input.addEventListener('beforeinput', ({ inputType }) => {
      if (inputType === 'deleteContentBackward') skipSeparators(input, -1);
      if (inputType === 'deleteContentForward') skipSeparators(input, 1);
    });
  }
  // Text that an input method composes is formatted at the end, because a change would abort the composition.
  input.addEventListener('input', (event) => {
    isComposing = (event as InputEvent).isComposing ?? false;
    if (isComposing) return;
    if (format) reformat(format);
    else before = input.value;
  });
  input.addEventListener('compositionend', () => input.dispatchEvent(new Event('input')));
  for (const name of ['change', 'keyup', 'blur']) input.addEventListener(name, refresh);
  if (settle) input.addEventListener('blur', () => show({ text: settle(input.value), caret: 0 }));
  return { input, refresh, isRefused: () => isRefused };
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
