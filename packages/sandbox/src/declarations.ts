/** The declarations of what transforms get, give and find, as editors take them. */
export const transformDeclarations: readonly URL[] = [
  new URL('../types/transform.d.ts', import.meta.url),
  new URL('../types/transform-globals.d.ts', import.meta.url),
];
