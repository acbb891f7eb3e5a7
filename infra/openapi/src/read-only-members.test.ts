import { nearMisses } from '@sluice/problems';
import { consoleOperations, operations } from './reference.ts';

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

/** A misspelt member is refused where a schema names the right one. */
const bodies = [operations, ...Object.values(consoleOperations)]
  .flat()
  .flatMap(({ id, body }) => (body ? [{ id, body }] : []));

test.each(bodies)(
  'the body of $id names its members, and so does each object in it that is not the caller’s own',
  ({ body }) => {
    expect(objectsWithoutMembers(body, '$')).toEqual([]);
  },
);

/** A map has `additionalProperties`. */
function objectsWithoutMembers(schema: object, path: string): string[] {
  const {
    type = [],
    properties,
    additionalProperties,
    items,
  } = schema as {
    type?: string | readonly string[];
    properties?: Record<string, object>;
    additionalProperties?: unknown;
    items?: object;
  };
  const isNamed = properties !== undefined || typeof additionalProperties === 'object' || !type.includes('object');
  return [
    ...(isNamed ? [] : [path]),
    ...Object.entries(properties ?? {}).flatMap(([name, member]) => objectsWithoutMembers(member, `${path}.${name}`)),
    ...(items ? objectsWithoutMembers(items, `${path}[]`) : []),
  ];
}
