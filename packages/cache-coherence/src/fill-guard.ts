/** At this many tags the log is cleared, and reads in progress count as overtaken. */
const longestLog = 10_000;

/** Stores all tags that change during a read, because the read's own tags are known only at its end. */
export class FillGuard {
  #log: string[] = [];
  /** Position of the first tag in the log. Reads that began before it count as overtaken. */
  #base = 0;
  #underWay = 0;

  /** Call it before the read is sent. @returns the position for {@link end}. */
  begin(): number {
    this.#underWay += 1;
    return this.#base + this.#log.length;
  }

  /** Whether the read with these tags may be cached. */
  end(position: number, tags: readonly string[]): boolean {
    const isCurrent = position >= this.#base && !this.#hasChanged(position, tags);
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#forget(0);
    return isCurrent;
  }

  note(tags: readonly string[]): void {
    if (this.#underWay === 0) return;
    if (this.#log.length + tags.length > longestLog) this.noteEverything();
    else this.#log.push(...tags);
  }

  noteEverything(): void {
    this.#forget(1);
  }

  #hasChanged(position: number, tags: readonly string[]): boolean {
    const changed = this.#log.slice(position - this.#base);
    if (changed.length === 0) return false;
    const read = new Set(tags);
    return changed.some((tag) => read.has(tag));
  }

  #forget(gap: 0 | 1): void {
    this.#base += this.#log.length + gap;
    this.#log = [];
  }
}
