/** More text than this cannot be looked for at each invocation: then nothing that it prints is shown. */
const mostCharacters = 8_192;
/** Nor more members, of whatever type: a value of megabytes can have millions, and none of them a text. */
export const mostMembers = 10_000;

/** What one invocation's console text must not show. */
export interface ConsoleSecrets {
  /** Every text and number in a value: what was detokenized, what is tokenized, the configuration. */
  add(value: unknown): void;
  /** Undefined: there are too many to look for. */
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
        characters += JSON.stringify(text).length - 2; // its escaped form is looked for as well, and no shorter
      }
    },
    texts: () => (isTooMuch() ? undefined : [...texts]),
  };
}
