import type { Content } from '../field/content.ts';
import type { Page } from '../field/page.ts';
import { problemOf, request } from '../field/requests.ts';
import { openSession } from '../field/session.ts';
import type { Start } from '../protocol.ts';
import type { Changeable, Words } from '../types.ts';
import { type Row, rowsOf } from './rows.ts';
import { watchVisibility } from './visibility.ts';

const shownForMs = 60_000;
const copiedForMs = 2_000;

const english: Words = {
  number: 'Number',
  expiry: 'Expiry',
  cvc: 'Security code',
  show: 'Show',
  hide: 'Hide',
  copy: 'Copy',
  copied: 'Copied',
  failed: 'The value cannot be shown',
};

export function open(start: Start, page: Page): Content {
  return new Revealed(start, page);
}

/** A button that shows a token's value for a minute, and one beside each value that copies it. */
class Revealed implements Content {
  readonly #start: Start;
  readonly #page: Page;
  readonly #words: Words;
  readonly #box = make('div');
  readonly #toggle = make('button');
  #isSeen = true;
  #isDisabled = false;
  #hidesAt: ReturnType<typeof setTimeout> | undefined;
  /** Increases when the value is hidden, so that a request from before shows nothing. */
  #hidden = 0;

  constructor(start: Start, page: Page) {
    this.#start = start;
    this.#page = page;
    this.#words = { ...english, ...start.words };
    this.#box.className = 'reveal';
    this.#box.role = 'group';
    document.body.append(this.#box);
    this.#toggle.addEventListener('click', () => (this.#hidesAt === undefined ? this.#show() : this.clear()));
    for (const name of ['focus', 'blur'] as const) {
      this.#toggle.addEventListener(name, () => {
        page.mark('focused', name === 'focus');
        page.tell({ emit: name });
      });
    }
    watchVisibility(this.#box, (isSeen) => {
      this.#isSeen = isSeen;
      for (const button of this.#box.querySelectorAll('button')) this.#enable(button);
    });
    addEventListener('pagehide', () => this.clear());
    this.clear();
  }

  focus() {
    this.#toggle.focus();
  }

  /** Hides the value. */
  clear() {
    this.#hidden += 1;
    clearTimeout(this.#hidesAt);
    this.#hidesAt = undefined;
    this.#draw([], '••••••••', this.#words.show);
  }

  update({ title, disabled = false }: Changeable) {
    if (title !== undefined) this.#box.ariaLabel = title;
    this.#isDisabled = disabled;
    for (const button of this.#box.querySelectorAll('button')) this.#enable(button);
  }

  /** Buttons that copy are disabled while the page hides or covers them, because then no click on them can be meant. */
  #enable(button: HTMLButtonElement) {
    button.disabled = button === this.#toggle ? this.#isDisabled : !this.#isSeen;
  }

  async #show() {
    this.#toggle.disabled = true;
    const hidden = this.#hidden;
    try {
      const key = await openSession(this.#start.key, this.#page, 0);
      const { type, data } = await request('GET', `/tokens/${encodeURIComponent(this.#start.token ?? '')}`, { key });
      if (hidden === this.#hidden) {
        this.#hidesAt = setTimeout(() => this.clear(), shownForMs);
        this.#draw(rowsOf(type, data), '', this.#words.hide);
      }
    } catch (error) {
      this.#draw([], this.#words.failed, this.#words.show);
      this.#page.tell({ emit: 'error', event: problemOf(error) });
    }
    this.#enable(this.#toggle);
  }

  /** `instead` is text beside the button. */
  #draw(rows: readonly Row[], instead?: string, action?: string) {
    this.#toggle.textContent = action ?? '';
    const last = make('div');
    last.append(make('output', instead), this.#toggle);
    this.#box.replaceChildren(...rows.map((row) => this.#line(row)), last);
    const isShown = this.#hidesAt !== undefined;
    this.#page.mark('shown', isShown);
    this.#page.tell({ emit: 'change', event: { empty: !isShown, complete: isShown } });
  }

  #line({ name, shown, copied }: Row): HTMLElement {
    const line = make('div');
    if (name !== '') line.append(make('small', this.#words[name as keyof Words] ?? name));
    line.append(make('output', shown));
    const button = make('button', this.#words.copy);
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(copied);
      button.textContent = this.#words.copied ?? '';
      setTimeout(() => {
        button.textContent = this.#words.copy ?? '';
      }, copiedForMs);
    });
    this.#enable(button);
    line.append(button);
    return line;
  }
}

function make<T extends 'div' | 'button' | 'small' | 'output'>(tag: T, text = ''): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  element.textContent = text;
  if (element instanceof HTMLButtonElement) element.type = 'button';
  return element;
}
