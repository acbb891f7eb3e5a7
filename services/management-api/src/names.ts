const mostCharacters = 200;

/** A name may hold the joiners of scripts and emoji, and the tags of flags. Other invisible characters imitate other names. */
const refused = /(?!\u200c|\u200d|[\u{e0020}-\u{e007f}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Why this is no name, and otherwise undefined. Blanks at both ends do not count. */
export function faultInName(name: string): string | undefined {
  const { length } = [...withoutBlanks(name)];
  if (length === 0 || length > mostCharacters) return `must have 1 to ${mostCharacters} characters, not only blanks`;
  return refused.test(name) ? 'must not have control, invisible or direction characters' : undefined;
}

export function withoutBlanks(name: string): string {
  return name.replace(/^\p{Zs}+|\p{Zs}+$/gu, '');
}
