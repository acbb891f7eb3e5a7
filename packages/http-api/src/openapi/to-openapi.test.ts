import type { OperationFacts } from '../operation.ts';
import { type OpenApiOptions, toOpenApi } from './to-openapi.ts';

type Facts = OperationFacts<object, object, object>;

const thing = { type: 'object', title: 'Thing', properties: { at: { type: 'string', format: 'iso-date' } } };

const create: Facts = {
  id: 'createThing',
  tag: 'Things',
  summary: 'Create a thing',
  description: 'Send `SVC-THING`, or `svc.things` in code.',
  method: 'post',
  path: '/things',
  permission: 'token:create',
  body: { type: 'object', title: 'ThingBody', required: ['part'], properties: { part: thing } },
  response: { 201: thing },
  errors: ['not_found'],
};

const list: Facts = {
  id: 'listThings',
  tag: 'Things',
  summary: 'List things',
  method: 'get',
  path: '/boxes/:box/things',
  params: { type: 'object', required: ['box'], properties: { box: { type: 'string' } } },
  query: {
    type: 'object',
    properties: { id: { type: 'array', items: { type: 'string' }, description: 'Only these' }, page: { default: 1 } },
  },
  response: { 200: { type: 'array', items: thing } },
};

function documentOf(operations: Facts[], options: Partial<OpenApiOptions> = {}) {
  // biome-ignore lint/suspicious/noExplicitAny: tests look deep into JSON, and a wrong look fails the test
  return toOpenApi({ operations, title: 'T', version: '1', description: 'D', headerPrefix: 'SVC', ...options }) as any;
}

test('an operation becomes a path, its schemas with a title components, its dates date-time', () => {
  const document = documentOf([create, list]);
  expect(document.openapi).toBe('3.1.1');
  const { operationId, requestBody, responses } = document.paths['/things'].post;
  expect(operationId).toBe('createThing');
  expect(requestBody.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/ThingBody' });
  expect(responses[201].content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Thing' });
  expect(responses[201].headers.Location).toBeDefined();
  expect(document.components.schemas.ThingBody.properties.part).toEqual({ $ref: '#/components/schemas/Thing' });
  expect(document.components.schemas.Thing.properties.at.format).toBe('date-time');
});

test('path and query parameters', () => {
  const { parameters } = documentOf([list]).paths['/boxes/{box}/things'].get;
  expect(parameters).toEqual([
    { name: 'box', in: 'path', required: true, schema: { type: 'string' } },
    {
      name: 'id',
      in: 'query',
      description: 'Only these',
      required: false,
      style: 'form',
      explode: true,
      schema: { type: 'array', items: { type: 'string' } },
    },
    { name: 'page', in: 'query', required: false, schema: { default: 1 } },
    { $ref: '#/components/parameters/TraceId' },
  ]);
});

test('statuses follow from the record', () => {
  const { '/things': things, '/boxes/{box}/things': inBox } = documentOf([create, list]).paths;
  expect(Object.keys(things.post.responses)).toEqual([
    '201',
    '400',
    '401',
    '403',
    '404',
    '409',
    '413',
    '415',
    '429',
    '500',
    '503',
  ]);
  expect(Object.keys(inBox.get.responses)).toEqual(['200', '400', '401', '429', '500', '503']);
  expect(things.post.responses[403].description).toContain('token:create');
  expect(things.post.responses[415].content).toHaveProperty('application/problem+json');
});

test('POST, PUT and PATCH take an idempotency key, but where the record says not', () => {
  const key = { $ref: '#/components/parameters/IdempotencyKey' };
  const parametersOf = (operation: Facts) => documentOf([operation]).paths['/things'][operation.method].parameters;
  expect(parametersOf(create)).toContainEqual(key);
  expect(parametersOf({ ...create, method: 'patch' })).toContainEqual(key);
  expect(parametersOf({ ...create, idempotent: false })).not.toContainEqual(key);
  expect(parametersOf({ ...create, method: 'delete' })).not.toContainEqual(key);
});

test('every name of ours follows the header prefix', () => {
  const document = documentOf([create], { headerPrefix: 'ACME' });
  expect(document.components.securitySchemes.ApiKey).toMatchObject({
    type: 'apiKey',
    in: 'header',
    name: 'ACME-API-KEY',
  });
  expect(document.paths['/things'].post.description).toContain('Send `ACME-THING`, or `acme.things` in code.');
  expect(JSON.stringify(document)).not.toMatch(/\bsvc\b/i);
});

test('two schemas with one title are refused, and so are two operations with one id or path', () => {
  const other = { ...list, response: { 200: { title: 'Thing', type: 'string' } } };
  expect(() => documentOf([create, other])).toThrow('Two schemas have the title Thing');
  expect(() => documentOf([create, create])).toThrow('two operations createThing');
  expect(() => documentOf([create, { ...create, path: '/others' }])).toThrow('two operations createThing');
  expect(() => documentOf([create, { ...create, id: 'x' }])).toThrow('two post /things');
});

test('making a document leaves the records as they are', () => {
  const before = structuredClone(create);
  documentOf([create]);
  expect(create).toEqual(before);
});
