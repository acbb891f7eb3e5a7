/**
 * For work that depends on cached state without being a cache entry, such as an export. Its callback runs when entries
 * with the same tags are dropped, before the change is acknowledged.
 */
export class Watches {
  readonly #byTag = new Map<string, Set<() => void>>();

  /** `onChange` must not throw. @returns a function that stops this. */
  add(tags: readonly string[], onChange: () => void): () => void {
    const own = () => onChange(); // a function of its own, so that two watches with the same callback stay apart
    for (const tag of tags) {
      const watching = this.#byTag.get(tag);
      if (watching) watching.add(own);
      else this.#byTag.set(tag, new Set([own]));
    }
    return () => {
      for (const tag of tags) {
        const watching = this.#byTag.get(tag);
        watching?.delete(own);
        if (watching?.size === 0) this.#byTag.delete(tag);
      }
    };
  }

  tell(tags: readonly string[]): void {
    this.#call(new Set(tags.flatMap((tag) => [...(this.#byTag.get(tag) ?? [])])));
  }

  tellAll(): void {
    this.#call(new Set([...this.#byTag.values()].flatMap((watching) => [...watching])));
  }

  #call(watching: ReadonlySet<() => void>): void {
    for (const onChange of watching) onChange();
  }
}
