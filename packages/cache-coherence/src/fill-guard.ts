/** Beyond this many tags every read under way counts as overtaken. */
const longestLog = 10_000;

/**
 * Tells whether a read that was under way has been overtaken by a change to what it read. What it read is known only
 * when it is done, so the tags of all changes are noted as long as any read is under way.
 */
export class FillGuard {
  #log: string[] = [];
  /** Position of the first entry of the log; reads that began before it are overtaken. */
  #base = 0;
  #underWay = 0;

  /** Returns the position to hand to {@link end}. Call it before the read is sent. */
  begin(): number {
    this.#underWay += 1;
    return this.#base + this.#log.length;
  }

  /** Whether what was read since `position`, with these tags, may be kept. */
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

  /** Every read under way is overtaken. */
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
