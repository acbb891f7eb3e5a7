/** Segments of letters, digits, `_` and `-` between slashes. The outer slashes are optional; `/` alone is the root. */
export const containerPattern = '^(?:/|/?[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*/?)$';

export const containerForm = 'must be names of letters, digits, _ and -, with slashes between them, such as /pci/high/';

/** The form in which containers are compared: `a/b` → `/a/b/`, root `/`. */
export function canonicalContainer(container: string): string {
  const inner = container.replace(/^\//, '').replace(/\/$/, '');
  return inner === '' ? '/' : `/${inner}/`;
}

/** A grant covers its container and everything below it. */
export function covers(granted: string, container: string): boolean {
  return canonicalContainer(container).startsWith(canonicalContainer(granted));
}
