/** Type declarations for editors: what transforms get and return, and the globals and modules they find. */
export const transformDeclarations: readonly URL[] = [
  new URL('../types/transform.d.ts', import.meta.url),
  new URL('../types/transform-globals.d.ts', import.meta.url),
];

/** The same for reactors. Apart, because transforms have no `fetch`. */
export const reactorDeclarations: readonly URL[] = [
  ...transformDeclarations,
  new URL('../types/reactor.d.ts', import.meta.url),
];
