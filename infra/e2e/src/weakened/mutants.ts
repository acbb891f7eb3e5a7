/** The product with one part of the protocol switched off. It has no switch for that: its source is changed as it is loaded. */
export interface Mutant {
  name: string;
  /** Of the repository. */
  file: string;
  /** Which of the services that load the file is weakened; the others are the product. */
  service: 'management-api' | 'proxy-gateway' | 'token-vault';
  /** What must stand there exactly once, and what stands there instead. */
  edits: readonly (readonly [find: string, replace: string])[];
}

const barrier = 'packages/cache-coherence/src/barrier.ts';
const leaseQueries = 'packages/cache-coherence/src/lease.queries.ts';
const heldLease = 'packages/cache-coherence/src/held-lease.ts';
const guardedCache = 'packages/cache-coherence/src/guarded-cache.ts';
const keyRoutes = 'services/management-api/src/applications/keys/application-key.routes.ts';

const mutantOf =
  (service: Mutant['service']) =>
  (name: string, file: string, ...edits: Mutant['edits']): Mutant => ({ name, file, service, edits });

/** A writer, and a process that caches. */
const writer = mutantOf('management-api');
const holder = mutantOf('proxy-gateway');
/** It takes sign-ins, too. */
const vault = mutantOf('token-vault');

/** The barrier, the lease and the guard of fills, which every cache relies on: found out at each change. */
export const essentialMutants: readonly Mutant[] = [
  writer('answers-without-waiting', barrier, [
    'const waiting = leases.filter(({ holder_id }) => !acknowledged.has(holder_id));',
    'const waiting = leases.filter(() => false);',
  ]),
  writer(
    'leaves-expired-leases',
    leaseQueries,
    [
      "const { numDeletedRows } = await db\n    .deleteFrom('cache_leases')",
      "const row = await db\n    .selectFrom('cache_leases').select('holder_id')",
    ],
    ['.executeTakeFirstOrThrow();\n  return numDeletedRows > 0n;', '.executeTakeFirst();\n  return row !== undefined;'],
  ),
  holder('renews-by-upsert', heldLease, [
    'this.#lose();\n      return 0;',
    `const nowMs = await insertLease(this.#options.db, this.#holderId, this.#options.service);
      this.#count(sentAt, { nowMs });
      return renewalIntervalMs;`,
  ]),
  holder('counts-lease-from-receipt', heldLease, [
    'this.#count(sentAt, renewal);',
    'this.#count(performance.now(), renewal);',
  ]),
  holder('keeps-overtaken-fills', guardedCache, [
    'if (!this.#guard.end(position, tags)) return;',
    'this.#guard.end(position, tags);',
  ]),
  holder('caches-keys-past-their-expiry', guardedCache, [
    'expiresAtMs: one.expiresAt ? Date.parse(one.expiresAt) : Infinity',
    'expiresAtMs: Infinity',
  ]),
];

/** In the full run. */
export const mutants: readonly Mutant[] = [
  ...essentialMutants,
  writer('announces-no-deleted-key', keyRoutes, [
    'return { change: await changes.record(tx, tenantId, [tagOf.application(params.id)]) };',
    'return { change: await changes.record(tx, tenantId, [absent]) };',
  ]),
  writer('deletes-all-keys', keyRoutes, [
    'await deleteKey(tx, tenantId, params.id, doomed.id);',
    'for (const { id } of present) await deleteKey(tx, tenantId, params.id, id);',
  ]),
  holder('announces-nothing-to-sessions', 'packages/credentials/src/callers.ts', [
    'toLoaded(found, [tagOf.session(found.id), ...applications.map(tagOf.application)])',
    'toLoaded(found, applications && [tagOf.session(found.id)])',
  ]),
  holder('sessions-outlive-their-key', 'packages/credentials/src/find-session.ts', [
    '`least(sessions.expires_at, applications.expires_at, application_keys.expires_at, maker.expires_at)`',
    '`sessions.expires_at`',
  ]),
  writer('announces-another-than-removed', 'services/management-api/src/people/members/member.routes.ts', [
    'changes.record(tx, tenantId, [tagOf.user(target.user_id)])',
    'changes.record(tx, tenantId, [tagOf.user(target.id)])',
  ]),
  writer('demotes-on-paper', 'services/management-api/src/people/members/member.queries.ts', [
    '.set({ role, keeps_role: true, modified_by: modifiedBy,',
    '.set({ keeps_role: role !== undefined, modified_by: modifiedBy,',
  ]),
  writer('announces-no-sign-out', 'services/management-api/src/people/sign-ins/create-sign-in.ts', [
    'tagOf.signIn(id)]',
    'tagOf.session(id)]',
  ]),
  vault('announces-no-deleted-key-to-sign-ins', 'packages/credentials/src/callers.ts', [
    'toLoaded(found, [tagOf.signIn(found.signInId), ownTag(found)])',
    'toLoaded(found, [tagOf.signIn(found.signInId)])',
  ]),
];

/**
 * The source with the edits made.
 * @throws {Error} where a text is not found exactly once: the mutant has to follow the product.
 */
export function mutate(text: string, { name, file, edits }: Pick<Mutant, 'name' | 'file' | 'edits'>): string {
  return edits.reduce((changed, [find, replace]) => {
    const found = changed.split(find).length - 1;
    if (found !== 1) throw new Error(`Mutant ${name}: its text is found ${found} times in ${file}:\n${find}`);
    return changed.replace(find, () => replace);
  }, text);
}

/** What a process writes when it has loaded the mutant's file. */
export const inPlace = (name: string) => `mutant ${name} is in place`;
