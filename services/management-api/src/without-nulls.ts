type Present<T> = { [K in keyof T]?: Exclude<T[K], null> };

export function withoutNulls<T extends object>(row: T): Present<T> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Present<T>;
}
