import { entityNames, messageOf, type Verb, writtenVerbs } from '@sluice/audit';
import type { EntityType } from './audit-search.ts';
import { happeningOf, happenings } from './happenings.ts';

const written = Object.entries<readonly Verb[]>(writtenVerbs).flatMap(([type, verbs]) =>
  verbs.map((verb) => [type as EntityType, verb] as const),
);

test.each(written)('of %s and %s the console says what happened', (entity_type, operation) => {
  const said = happeningOf({ entity_type, operation, message: messageOf(entity_type, operation) });
  expect(said).toBe(happenings[entity_type][operation]);
  expect(said).toMatch(/^[A-Z][\w -]+$/);
});

test('it has words for nothing that the service does not write', () => {
  const known = Object.entries(happenings).flatMap(([type, verbs]) => Object.keys(verbs).map((verb) => [type, verb]));
  expect(known.sort()).toEqual(written.map((pair) => [...pair]).sort());
  expect(Object.keys(happenings).sort()).toEqual(Object.keys(entityNames).sort());
});

const update = { entity_type: 'application', operation: 'update' } as const;

test.each<[string, Parameters<typeof happeningOf>[0]]>([
  ['Key added', { ...update, message: 'Key added to the Application' }],
  ['Key removed', { ...update, message: 'Key removed from the Application' }],
  ['Something new', { ...update, message: 'Something new' }],
  [
    'Version 2 restored',
    { ...update, entity_type: 'proxy', message: 'Proxy updated', detail: { restored_version: 2 } },
  ],
  ['Token created', { entity_type: 'token', operation: 'create', message: '', detail: { token_ids: ['a'] } }],
  ['3 tokens read', { entity_type: 'token', operation: 'read', message: '', detail: { token_ids: ['a', 'b', 'c'] } }],
  ['Proxy called', { entity_type: 'proxy', operation: 'use', message: '', detail: { token_ids: ['a', 'b'] } }],
  ['Value found in response', { entity_type: 'proxy', operation: 'use', message: '', detail: { guard_hits: 1 } }],
  [
    'Use refused',
    { entity_type: 'proxy', operation: 'use', message: '', detail: { refused: [{ token_id: 'a', member: 'until' }] } },
  ],
])('%s', (said, row) => {
  expect(happeningOf(row)).toBe(said);
});
