/** Notifies long work, such as an export. `onChange` runs before a change is acknowledged, and must not throw. */
export class Watches {
  readonly #byTag = new Map<string, Set<() => void>>();

  /** @returns a function that stops the watch. */
  add(tags: readonly string[], onChange: () => void): () => void {
    const own = () => onChange(); // keeps two watches with the same callback apart
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
