/** When the log has this many tags it is cleared, and every read under way counts as overtaken. */
const longestLog = 10_000;

/**
 * Tells whether a change has overtaken a read of the same thing. Which thing a read concerns is known only when it is
 * done, so the tags of all changes are kept while any read is under way.
 */
export class FillGuard {
  #log: string[] = [];
  /** Position of the first entry of the log. Reads that began before it count as overtaken. */
  #base = 0;
  #underWay = 0;

  /** Returns the position to hand to {@link end}. Call it before the read is sent. */
  begin(): number {
    this.#underWay += 1;
    return this.#base + this.#log.length;
  }

  /** Returns whether what was read since `position`, with these tags, may be cached. */
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

  /** Marks every read under way as overtaken. */
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
