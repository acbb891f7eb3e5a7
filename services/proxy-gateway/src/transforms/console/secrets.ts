/** More text than this cannot be looked for at each invocation: then nothing that it prints is shown. */
const mostCharacters = 8_192;

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
  return {
    add: (value) => {
      const left = [value];
      while (left.length > 0 && characters <= mostCharacters) {
        const item = left.pop();
        if (typeof item === 'object' && item !== null) for (const member of Object.values(item)) left.push(member);
        const text = typeof item === 'string' ? item.trim() : typeof item === 'number' ? String(item) : '';
        if (text === '' || texts.has(text)) continue;
        texts.add(text);
        characters += text.length;
      }
    },
    texts: () => (characters > mostCharacters ? undefined : [...texts]),
  };
}
