/** `yes` and `no` are certain; `maybe`: it was asked for and no answer came. */
type Knowledge = 'no' | 'maybe' | 'yes';

/** What the clients know of a token from the answers that they got. */
export interface Known {
  created: Knowledge;
  /** Created, read or used in this month. */
  used: Knowledge;
  deleted: Knowledge;
  expires: boolean;
}

export const knownToken = (parts: Partial<Known> = {}): Known => {
  return { created: 'maybe', used: 'maybe', deleted: 'no', expires: false, ...parts };
};

/** Ids of existing tokens, of deleted tokens, and of those in either set that count as active. */
export type StoredIds = Record<'there' | 'gone' | 'active', ReadonlySet<string>>;

/** Promises in the responses that the rows contradict. */
export function contradictions(known: ReadonlyMap<string, Known>, { there, gone, active }: StoredIds): string[] {
  return Array.from(known).flatMap(([id, { created, used, deleted, expires }]) => {
    const was = there.has(id) || gone.has(id);
    const wrong: [isWrong: boolean, inWords: string][] = [
      [created === 'yes' && !was, 'was acknowledged and was never stored'],
      [created === 'no' && was, 'was refused and was stored'],
      [created === 'yes' && deleted === 'no' && !expires && !there.has(id), 'is lost'],
      [deleted === 'yes' && there.has(id), 'was deleted and is there'],
      [used === 'yes' && !active.has(id), 'was used and does not count as active'],
      [used === 'no' && active.has(id), 'was not used and counts as active'],
    ];
    return wrong.flatMap(([isWrong, inWords]) => (isWrong ? [`${id} ${inWords}`] : []));
  });
}
