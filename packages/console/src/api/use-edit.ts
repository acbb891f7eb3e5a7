import type { ChangeOptions } from '@sluice/sdk';
import { useState } from 'react';
import { useUnsaved } from './unsaved.ts';
import { isStale, useChange, type Versioned, versionOf } from './use-change.ts';

interface EditOptions<Resource extends Versioned, Draft> {
  resource: Resource;
  /** The members that are edited. */
  toDraft: (resource: Resource) => Draft;
  /** Reads the present version. */
  read: () => Promise<Resource>;
  /** Saves the draft over `base`, the version that it was made from. */
  act: (options: ChangeOptions, draft: Draft, base: Resource) => Promise<unknown>;
  said: (draft: Draft) => string;
  onDone?: () => void;
}

/** Members of a resource that somebody edits. */
export interface Edit<Resource, Draft> {
  draft: Draft;
  setDraft: (draft: Draft) => void;
  isChanged: boolean;
  save: () => void;
  isSaving: boolean;
  error: Error | null;
  /** The version that the draft was made from. */
  base: Resource;
  /** The present version, if somebody else has changed the edited members meanwhile, so that the draft was not saved. */
  theirs: Resource | undefined;
  /** Discards the draft. */
  takeTheirs: () => void;
  /** Saves the draft over the present version. */
  overwrite: () => void;
}

/**
 * Two people may edit one resource. The draft is saved only over the version that it was made from, or over one that differs from it
 * in other members only. Otherwise nothing is saved, and the person decides. An unchanged draft follows the resource.
 */
export function useEdit<Resource extends Versioned, Draft>(
  options: EditOptions<Resource, Draft>,
): Edit<Resource, Draft> {
  const { resource, toDraft, read, act, said, onDone } = options;
  const [base, setBase] = useState(resource);
  const [draft, setDraft] = useState(() => toDraft(resource));
  const [theirs, setTheirs] = useState<Resource>();
  const isChanged = !isEqual(draft, toDraft(base));
  const unsaved = useUnsaved(isChanged);
  const take = (current: Resource) => {
    setBase(current);
    setDraft(toDraft(current));
    setTheirs(undefined);
  };
  const isNewer = versionOf(resource).ifMatch !== versionOf(base).ifMatch;
  if (isNewer && isEqual(draft, toDraft(resource))) take(resource);
  else if (isNewer && !isChanged) take(resource);
  else if (isNewer && isEqual(toDraft(base), toDraft(resource))) setBase(resource);

  const change = useChange<Resource>({
    unsaved,
    act: async (given, over) => {
      try {
        return await act({ ...given, ...versionOf(over) }, draft, over);
      } catch (error) {
        if (!isStale(error)) throw error;
        const current = await read();
        if (isEqual(toDraft(current), toDraft(over))) return act({ ...given, ...versionOf(current) }, draft, current);
        setTheirs(current);
        throw error;
      }
    },
    said: () => said(draft),
    onDone: () => {
      setTheirs(undefined);
      onDone?.();
    },
  });
  return {
    draft,
    setDraft,
    isChanged,
    save: () => change.mutate(base),
    isSaving: change.isPending,
    error: theirs ? null : change.error,
    base,
    theirs,
    takeTheirs: () => {
      change.reset();
      if (theirs) take(theirs);
    },
    overwrite: () => {
      if (!theirs) return;
      setBase(theirs);
      setTheirs(undefined);
      change.mutate(theirs);
    },
  };
}

/** Of JSON. */
function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
