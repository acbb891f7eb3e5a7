import { readFileSync } from 'node:fs';
import { type ApplicationType, isHoldable } from '@sluice/access';
import { takesIdempotencyKey } from '@sluice/http-api';
import { invocationPaths } from './invocation.ts';
import { operations } from './reference.ts';

type Holder = 'public key' | 'session';
type Callable = Pick<
  (typeof operations)[number],
  'id' | 'method' | 'permission' | 'orPermission' | 'takesKeyOf' | 'idempotent'
>;

const text = readFileSync(new URL('../../public-writes.md', import.meta.url), 'utf8');

/** By operation, as the table of public-writes.md says. */
function rowsIn(markdown: string) {
  const [, section = ''] = markdown.split(/^# What a public key or a session may write$/m);
  const lines = (section.split(/^## /m)[0] ?? '').split('\n').filter((line) => line.startsWith('| `'));
  const rows = lines.flatMap((line) => {
    const [names = '', holders = '', writes = '', bound = ''] = line.slice(2, -2).split(' | ');
    return Array.from(names.matchAll(/`(\w+)`/g), ([, id = '']) => ({
      id,
      holders: holders.split(', '),
      writes,
      bound,
    }));
  });
  return new Map(rows.map((row) => [row.id, row]));
}

/** A session can be granted whatever a private or a public Application can hold, and nothing of management. */
const holdersOf: Record<Holder, { type: Callable['takesKeyOf']; grants: readonly ApplicationType[] }> = {
  'public key': { type: 'public', grants: ['public'] },
  session: { type: 'session', grants: ['public', 'private'] },
};

function mayCall(holder: Holder, { permission, orPermission, takesKeyOf }: Callable): boolean {
  const { type, grants } = holdersOf[holder];
  const isTaken = takesKeyOf === undefined || takesKeyOf === type;
  return (
    isTaken &&
    (permission === undefined ||
      grants.some((of) => isHoldable(permission, of) || (orPermission && isHoldable(orPermission, of))))
  );
}

function faultsIn(markdown: string, all: readonly Callable[]): string[] {
  const rows = rowsIn(markdown);
  const unknown = [...rows.keys()].filter((id) => !all.some((operation) => operation.id === id));
  const holders = ['public key', 'session'] as const;
  return [
    ...unknown.map((id) => `${id} is no operation`),
    ...all.flatMap((operation) => {
      const row = rows.get(operation.id);
      const callers = holders.filter((holder) => mayCall(holder, operation));
      if (!row)
        return callers.map((holder) => `${operation.id}: a ${holder} may call it, and no row says what it writes`);
      const isCounted =
        !callers.includes('public key') || !takesIdempotencyKey(operation) || /their limits/.test(row.bound);
      return [
        ...(row.holders.join() === callers.join() ? [] : [`${operation.id}: may be called with ${callers.join(', ')}`]),
        ...(row.writes === 'nothing' || /\w/.test(row.bound) ? [] : [`${operation.id}: nothing bounds it`]),
        ...(isCounted ? [] : [`${operation.id}: keeps answers for public keys, which nothing counts`]),
      ];
    }),
  ];
}

/** The invocation has no record: any method, with `token:use`. */
const invocations = [
  ...new Set(
    Object.values(invocationPaths())
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId }) => String(operationId).replace(/[A-Z][a-z]+$/, '')),
  ),
].map((id): Callable => ({ id, method: 'post', permission: 'token:use', idempotent: false }));
const all: readonly Callable[] = [...operations, ...invocations];

test('every operation that a public key or a session may call is in the table of what they may write', () => {
  expect(invocations.map(({ id }) => id)).toEqual(['invokeProxy', 'invokeProxyPath']);
  expect(faultsIn(text, all)).toEqual([]);
});

test.each<[string, readonly Callable[], string[]]>([
  [
    'an operation for any key',
    [{ id: 'ping', method: 'get' }],
    ['public key', 'session'].map((holder) => `ping: a ${holder} may call it, and no row says what it writes`),
  ],
  [
    'an operation for sessions',
    [{ id: 'copyToken', method: 'post', permission: 'token:read' }],
    ['copyToken: a session may call it, and no row says what it writes'],
  ],
  ['an operation of management', [{ id: 'closeTenant', method: 'post', permission: 'tenant:delete' }], []],
])('control: %s that is in no row is told if either may call it', (_name, more, faults) => {
  expect(faultsIn(text, [...all, ...more])).toEqual(faults);
});

test('control: a row that is wrong is told', () => {
  const change = (from: string | RegExp, to: string) => faultsIn(text.replace(from, to), all);
  expect(change(/^\| `tokenize` .*\n/m, '')).toHaveLength(2);
  expect(change('| `createSession` | public key |', '| `createSession` | public key, session |')).toEqual([
    'createSession: may be called with public key',
  ]);
  expect(change('`APPLICATION_MAX_WAITING_SESSIONS`, `TENANT_MAX_SESSION_CALLS`', '–')).toEqual([
    'createSession: nothing bounds it',
  ]);
  expect(change('; for public keys their limits |', ' |')).toEqual([
    'createToken: keeps answers for public keys, which nothing counts',
    'patchToken: keeps answers for public keys, which nothing counts',
  ]);
  expect(change('`listPermissions`', '`listRights`')).toContain('listRights is no operation');
});
