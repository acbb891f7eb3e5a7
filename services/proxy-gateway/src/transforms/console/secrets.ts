/** Secrets with more text take too long to look for at each invocation; then nothing that is printed is shown. */
const mostCharacters = 8_192;
/** The limit for members of any type, because a value of megabytes can have millions of them. */
export const mostMembers = 10_000;

/** Values that the console of one invocation must not show. */
export interface ConsoleSecrets {
  /** Adds every text and number in a value: what was detokenized or is being tokenized, and the configuration. */
  add(value: unknown): void;
  /** Undefined where there are too many to look for. */
  texts(): readonly string[] | undefined;
}

export function newConsoleSecrets(): ConsoleSecrets {
  const texts = new Set<string>();
  let characters = 0;
  let members = 0;
  const isTooMuch = () => characters > mostCharacters || members > mostMembers;
  return {
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
        characters += JSON.stringify(text).length - 2; // the escaped form is searched too, and is no shorter
      }
    },
    texts: () => (isTooMuch() ? undefined : [...texts]),
  };
}
