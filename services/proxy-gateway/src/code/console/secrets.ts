/** Searching for longer texts at each invocation takes too long; then nothing printed is shown. */
const mostCharacters = 8_192;
/** Limits members of any type, because a value of megabytes can have millions of them. */
export const mostMembers = 10_000;

/** Keeps only texts, because the memory of the values is no longer counted once they are used. */
export class ConsoleSecrets {
  readonly #texts = new Set<string>();
  #characters = 0;
  #members = 0;

  get isTooMuch(): boolean {
    return this.#characters > mostCharacters || this.#members > mostMembers;
  }

  add(value: unknown): void {
    const left = [value];
    while (left.length > 0 && !this.isTooMuch) {
      const item = left.pop();
      if (typeof item === 'object' && item !== null) {
        const inner = Array.isArray(item) ? item.slice(0, mostMembers + 1) : Object.values(item);
        this.#members += inner.length;
        if (this.isTooMuch) break;
        left.push(...inner);
      }
      const text = typeof item === 'string' ? item.trim() : typeof item === 'number' ? String(item) : '';
      if (text === '' || this.#texts.has(text)) continue;
      this.#texts.add(text);
      // Other forms are searched too, whose lengths grow with these.
      const isLong = text.length > mostCharacters;
      this.#characters += isLong ? text.length : Math.max(JSON.stringify(text).length - 2, Buffer.byteLength(text));
    }
    if (this.isTooMuch) this.#texts.clear();
  }

  /** Undefined where there are too many to look for. */
  texts(): readonly string[] | undefined {
    return this.isTooMuch ? undefined : [...this.#texts];
  }
}
