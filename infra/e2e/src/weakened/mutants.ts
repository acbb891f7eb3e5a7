/** Some of the product's source, and what stands there instead. */
interface Edit {
  /** Must occur exactly once in the file. */
  find: string;
  replace: string;
}

/** The product with one part of the protocol switched off. It has no switch for that: its source is changed as it is loaded. */
export interface Mutant {
  name: string;
  /** Of the repository. */
  file: string;
  edits: readonly Edit[];
}

const source = 'packages/cache-coherence/src';

export const mutants: readonly Mutant[] = [
  {
    name: 'answers-without-waiting',
    file: `${source}/barrier.ts`,
    edits: [
      {
        find: 'const waiting = leases.filter(({ holder_id }) => !acknowledged.has(holder_id));',
        replace: 'const waiting = leases.filter(() => false);',
      },
    ],
  },
  {
    name: 'leaves-expired-leases',
    file: `${source}/lease.queries.ts`,
    edits: [
      {
        find: `const { numDeletedRows } = await db
    .deleteFrom('cache_leases')`,
        replace: `const row = await db
    .selectFrom('cache_leases').select('holder_id')`,
      },
      {
        find: `.executeTakeFirstOrThrow();
  return numDeletedRows > 0n;`,
        replace: `.executeTakeFirst();
  return row !== undefined;`,
      },
    ],
  },
  {
    name: 'renews-by-upsert',
    file: `${source}/held-lease.ts`,
    edits: [
      {
        find: `this.#lose();
      return 0;`,
        replace: `const nowMs = await insertLease(this.#options.db, this.#holderId, this.#options.service);
      this.#count(sentAt, { nowMs });
      return renewalIntervalMs;`,
      },
    ],
  },
  {
    name: 'counts-lease-from-receipt',
    file: `${source}/held-lease.ts`,
    edits: [{ find: 'this.#count(sentAt, renewal);', replace: 'this.#count(performance.now(), renewal);' }],
  },
  {
    name: 'keeps-overtaken-fills',
    file: `${source}/guarded-cache.ts`,
    edits: [{ find: 'if (!this.#guard.end(position, tags)) return;', replace: 'this.#guard.end(position, tags);' }],
  },
  {
    name: 'announces-no-deleted-key',
    file: 'services/management-api/src/application-keys/application-key.routes.ts',
    edits: [
      {
        find: 'return changes.record(tx, tenantId, [tagOf.application(params.id)]);',
        replace: 'return changes.record(tx, tenantId, [absent]);',
      },
    ],
  },
  {
    name: 'deletes-all-keys',
    file: 'services/management-api/src/application-keys/application-key.routes.ts',
    edits: [
      {
        find: 'await deleteKey(tx, tenantId, params.id, doomed.id);',
        replace: 'for (const { id } of present) await deleteKey(tx, tenantId, params.id, id);',
      },
    ],
  },
  {
    name: 'caches-keys-past-their-expiry',
    file: `${source}/guarded-cache.ts`,
    edits: [
      { find: 'expiresAtMs: one.expiresAt ? Date.parse(one.expiresAt) : Infinity', replace: 'expiresAtMs: Infinity' },
    ],
  },
  {
    name: 'announces-nothing-to-sessions',
    file: 'packages/credentials/src/callers.ts',
    edits: [
      {
        find: 'toLoaded(session, [tagOf.session(session.id), ...applications.map(tagOf.application)])',
        replace: 'toLoaded(session, applications && [tagOf.session(session.id)])',
      },
    ],
  },
  {
    name: 'sessions-outlive-their-key',
    file: 'packages/credentials/src/find-session.ts',
    edits: [
      {
        find: '`least(sessions.expires_at, applications.expires_at, application_keys.expires_at, maker.expires_at)`',
        replace: '`sessions.expires_at`',
      },
    ],
  },
];

/**
 * The source with the edits made.
 * @throws {Error} where a text is not found exactly once: the mutant has to follow the product.
 */
export function mutate(text: string, { name, file, edits }: Mutant): string {
  return edits.reduce((changed, { find, replace }) => {
    const found = changed.split(find).length - 1;
    if (found !== 1) throw new Error(`Mutant ${name}: its text is found ${found} times in ${file}:\n${find}`);
    return changed.replace(find, () => replace);
  }, text);
}

/** What a process writes when it has loaded the mutant's file. */
export const inPlace = (name: string) => `mutant ${name} is in place`;
