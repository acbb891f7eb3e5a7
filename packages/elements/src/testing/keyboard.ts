import type { Format, Shown } from '../field/digits.ts';

/** What a person does in a field, as a browser would: with `Backspace` deleting beyond separators as the field does. */
export class Keyboard {
  readonly #format: Format;
  shown: Shown = { text: '', caret: 0 };

  constructor(format: Format) {
    this.#format = format;
  }

  /** Types or pastes over what is selected, by default nothing. */
  insert(text: string, length = 0): this {
    const { caret } = this.shown;
    return this.#edit(caret, caret + length, text);
  }

  type(text: string): this {
    for (const character of text) this.insert(character);
    return this;
  }

  backspace(): this {
    const { text } = this.shown;
    let { caret } = this.shown;
    while (caret > 0 && /[^\p{L}\d]/u.test(text.charAt(caret - 1))) caret--;
    return caret > 0 ? this.#edit(caret - 1, caret, '') : this;
  }

  /** Sets the caret. */
  at(caret: number): this {
    this.shown = { text: this.shown.text, caret };
    return this;
  }

  #edit(from: number, to: number, text: string): this {
    const { text: before } = this.shown;
    const typed = { text: before.slice(0, from) + text + before.slice(to), caret: from + text.length };
    this.shown = this.#format(typed, before);
    return this;
  }

  /** With the caret as `|`. */
  toString(): string {
    const { text, caret } = this.shown;
    return `${text.slice(0, caret)}|${text.slice(caret)}`;
  }
}
