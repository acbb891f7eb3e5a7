/** More text takes too long to look for at each invocation; then nothing that is printed is shown. */
const mostCharacters = 8_192;
/** Limits members of any type, because a value of megabytes can have millions of them. */
export const mostMembers = 10_000;

/** Keeps only texts, because the memory of the values is no longer counted once they are used. */
export interface ConsoleSecrets {
  add(value: unknown): void;
  /** Undefined where there are too many to look for. */
  texts(): readonly string[] | undefined;
  readonly isTooMuch: boolean;
}

export function newConsoleSecrets(): ConsoleSecrets {
  const texts = new Set<string>();
  let characters = 0;
  let members = 0;
  const isTooMuch = () => characters > mostCharacters || members > mostMembers;
  return {
    get isTooMuch() {
      return isTooMuch();
    },
    add: (value) => {
      const left = [value];
      while (left.length > 0 && !isTooMuch()) {
        const item = left.pop();
        if (typeof item === 'object' && item !== null) {
          const inner = Array.isArray(item) ? item.slice(0, mostMembers + 1) : Object.values(item);
          members += inner.length;
          if (isTooMuch()) break;
          left.push(...inner);
        }
        const text = typeof item === 'string' ? item.trim() : typeof item === 'number' ? String(item) : '';
        if (text === '' || texts.has(text)) continue;
        texts.add(text);
        // Other forms are searched too, whose lengths grow with these.
        const isLong = text.length > mostCharacters;
        characters += isLong ? text.length : Math.max(JSON.stringify(text).length - 2, Buffer.byteLength(text));
      }
      if (isTooMuch()) texts.clear();
    },
    texts: () => (isTooMuch() ? undefined : [...texts]),
  };
}
