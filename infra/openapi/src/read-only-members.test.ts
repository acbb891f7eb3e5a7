import { nearMisses } from '@sluice/problems';
import { operations } from './reference.ts';

const propertiesOf = (schema: unknown) =>
  Object.keys((schema as { properties?: object } | null | undefined)?.properties ?? {});

/** What a GET of the same path answers, or else the change itself, so that it can be changed and sent back. */
const changes = operations
  .filter(({ method, body }) => (method === 'put' || method === 'patch') && body)
  .map((change) => {
    const read = operations.find(({ method, path }) => method === 'get' && path === change.path);
    return {
      id: change.id,
      writable: propertiesOf(change.body),
      answered: propertiesOf((read ?? change).response[200]),
    };
  });

test.each(changes)('$id refuses no member that a read of the same resource answers', ({ writable, answered }) => {
  expect(answered.length).toBeGreaterThan(0);
  for (const name of answered) expect(nearMisses({ [name]: 'x' }, { writable, readOnly: [] })).toEqual({});
});
