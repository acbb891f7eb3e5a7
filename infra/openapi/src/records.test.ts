import { parseDate } from '@sluice/database';
import { type Access, bodyCheck, failuresOf, type OperationFacts } from '@sluice/http-api';
import { errorCodes, ServiceError } from '@sluice/problems';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { consoleOperations, describePlatform, operations } from './reference.ts';

type Operation = OperationFacts<object, object, object>;

const document = describePlatform('0.0.0');
const { operationsByCookie, anonymousOperations } = consoleOperations;
const all = [
  ...operations.map((operation): [string, Operation, Access] => [operation.id, operation, 'key']),
  ...operationsByCookie.map((operation): [string, Operation, Access] => [operation.id, operation, 'cookie']),
  ...anonymousOperations.map((operation): [string, Operation, Access] => [operation.id, operation, 'anybody']),
];

/** The examples are checked as a reader of the document would: strictly, by the schemas that it has. */
const ajv = new Ajv2020({
  allErrors: true,
  allowUnionTypes: true,
  formats: { uuid: /^[0-9a-f-]{36}$/, 'date-time': (text: string) => parseDate(text) !== undefined },
});

interface Described {
  summary: string;
  tags: string[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }>; headers?: object }>;
}

function describedAs({ method, path }: Operation): Described {
  const found = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method];
  if (!found) throw new Error(`${method} ${path} is not in the document`);
  return found as unknown as Described;
}

/** The schemas of an operation's body and of its successes, as the document has them. */
function schemasOf(operation: Operation): object[] {
  const { requestBody, responses } = describedAs(operation);
  const successes = Object.entries(responses).flatMap(([status, { content }]) => (status < '300' ? [content] : []));
  return [requestBody?.content, ...successes]
    .flatMap((content) => Object.values(content ?? {}))
    .map(({ schema }) => schema);
}

function resolve(schema: object): { examples?: unknown[] } {
  const reference = (schema as { $ref?: string }).$ref;
  return (reference ? document.components.schemas?.[reference.split('/').at(-1) ?? ''] : schema) ?? {};
}

function check(schema: object, value: unknown): unknown {
  const whole = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const validate = ajv.compile(JSON.parse(whole.replaceAll('"#/components/schemas/', '"#/$defs/')));
  return validate(value) ? 'valid' : validate.errors;
}

test.each(all)('%s has a summary and a group', (_id, operation) => {
  const { summary, tags } = describedAs(operation);
  expect(summary.length).toBeGreaterThan(5);
  expect(tags).toEqual([operation.tag]);
});

test.each(all)('%s has an example of each body, valid by its own schema', (_id, operation) => {
  for (const schema of schemasOf(operation)) {
    const { examples = [] } = resolve(schema);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(check(schema, example)).toBe('valid');
  }
});

/** A service compiles a schema when it is first used, so a faulty one would be found late. */
function faultOf(schema: object): unknown {
  try {
    bodyCheck(schema)(null);
  } catch (error) {
    if (!(error instanceof ServiceError)) return error;
  }
  return undefined;
}

test.each(all)('%s has schemas that compile', (_id, { params, query, body }) => {
  for (const schema of [params, query, body]) expect(schema && faultOf(schema)).toBeUndefined();
});

test('a schema that does not compile is noticed', () => {
  expect(faultOf({ type: 'thing' })).toBeInstanceOf(Error);
});

test.each(Object.entries(document.components.schemas ?? {}))(
  'the examples of %s are valid',
  (name, { examples = [] }) => {
    for (const example of examples as unknown[]) {
      expect(check({ $ref: `#/components/schemas/${name}` }, example)).toBe('valid');
    }
  },
);

test('an example that is not valid is noticed', () => {
  const example = resolve({ $ref: '#/components/schemas/Proxy' }).examples?.[0] as object;
  expect(check({ $ref: '#/components/schemas/Proxy' }, example)).toBe('valid');
  expect(check({ $ref: '#/components/schemas/Proxy' }, { ...example, id: 7 })).toEqual([
    expect.objectContaining({ instancePath: '/id', keyword: 'type' }),
  ]);
});

test.each(all)('%s has every status that it can answer, and no other', (_id, operation, access) => {
  const failures = failuresOf(operation, access).map((code) => errorCodes[code].status);
  const expected = new Set([...Object.keys(operation.response), ...failures].map(String));
  expect(Object.keys(describedAs(operation).responses).sort()).toEqual([...expected].sort());
});

/** Said again, apart from the code that makes the document. */
test.each(all)('%s: what the checks can refuse is there', (_id, operation, access) => {
  const { responses } = describedAs(operation);
  const { permission, takesKeyOf, body, params, query, errors = [] } = operation;
  const statuses = new Set(Object.keys(responses));
  expect(statuses.has('429') && statuses.has('500') && statuses.has('503')).toBe(true);
  expect(statuses.has('401')).toBe(access !== 'anybody' || errors.includes('unauthenticated'));
  expect(statuses.has('403')).toBe(permission !== undefined || takesKeyOf !== undefined || access !== 'key');
  expect(statuses.has('413') && statuses.has('415')).toBe(body !== undefined);
  if (params || query || body) expect([...statuses]).toContain('400');
  if (params) expect([...statuses]).toContain('404');
  for (const code of errors) expect([...statuses]).toContain(`${errorCodes[code].status}`);
  if (responses[201]) expect(responses[201].headers).toHaveProperty('Location');
});
