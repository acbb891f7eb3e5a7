/** Segments of letters, digits, `_` and `-` between slashes; outer slashes may be left out; `/`, and only it, is the root. */
export const containerPattern = '^(?:/|/?[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*/?)$';

/** The form in which containers are compared: `a/b` → `/a/b/`, root `/`. */
export function canonicalContainer(container: string): string {
  const inner = container.replace(/^\//, '').replace(/\/$/, '');
  return inner === '' ? '/' : `/${inner}/`;
}

/** Whether a grant on `granted` reaches `container`: it covers itself and all below it. */
export function covers(granted: string, container: string): boolean {
  return canonicalContainer(container).startsWith(canonicalContainer(granted));
}
