type Present<T> = { [K in keyof T]?: Exclude<T[K], null> };

/** A row as it is answered, without its unset members. */
export function withoutNulls<T extends object>(row: T): Present<T> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Present<T>;
}
