/**
 * What is under way and rests on cached state without being a cache entry: an export, a stream of events. Each is told of
 * a change at the moment at which entries with its tags are dropped, so before the change is acknowledged.
 */
export class Watches {
  readonly #byTag = new Map<string, Set<() => void>>();

  /** @param onChange is called for each change that names one of the tags, and must not throw. @returns how to stop. */
  add(tags: readonly string[], onChange: () => void): () => void {
    const own = () => onChange(); // so that two watches with one function are two
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

  /** A change names these tags. */
  tell(tags: readonly string[]): void {
    this.#call(new Set(tags.flatMap((tag) => [...(this.#byTag.get(tag) ?? [])])));
  }

  /** Anything may have changed. */
  tellAll(): void {
    this.#call(new Set([...this.#byTag.values()].flatMap((watching) => [...watching])));
  }

  #call(watching: ReadonlySet<() => void>): void {
    for (const onChange of watching) onChange();
  }
}
