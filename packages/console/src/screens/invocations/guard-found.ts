const count = new Intl.NumberFormat();

/** What a response guard found, for `guard_hits` of an invocation. */
export function guardFound(hits: number): string {
  return `The response guard found ${hits === 1 ? 'a value' : `${count.format(hits)} values`}`;
}
