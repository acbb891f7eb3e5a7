import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Part } from '@sluice/http-api';
import { addMethodNames } from './method-names.ts';
import { consoleOperations, describePlatform, operations } from './reference.ts';
import { shareFailures } from './shared-failures.ts';

const document = describePlatform('0.0.0');
const { operationsByCookie, anonymousOperations } = consoleOperations;
const all = [...operations, ...operationsByCookie, ...anonymousOperations];

test('the committed document, library and commands are what the operation records say now', async () => {
  const { stderr } = await promisify(execFile)(process.execPath, [
    new URL('main.ts', import.meta.url).pathname,
    '--check',
  ]).catch((error: { stderr: string }) => error);
  expect(stderr === '' ? 'current' : `run "npm run openapi" and commit. ${stderr}`).toBe('current');
});

test('every operation has a name in the library, but what only pages of signing in call, and no two the same but those of the invocation', () => {
  const named = Object.values(document.paths)
    .flatMap((item) => Object.values(item).map((one) => one['x-sluice-method'] as string | undefined))
    .filter((name) => name !== 'proxy');
  const names = named.filter((name) => name !== undefined);
  expect(named.length - names.length).toBe(8);
  expect(names.filter((name) => !/^[a-z]+(\.[a-zA-Z]+)*$/i.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  expect(named.length).toBe(all.length + 1); // the public keys of the ledger are no operation record
});

test.each([
  [
    { '/boxes': ['get', 'post'], '/boxes/{id}': ['get', 'put', 'patch', 'delete'] },
    'boxes.list boxes.create boxes.get boxes.update boxes.patch boxes.delete',
  ],
  [
    { '/boxes/{id}/lids': ['get', 'post'], '/boxes/{id}/lids/{lidId}': ['delete'] },
    'boxes.lids.list boxes.lids.create boxes.lids.delete',
  ],
  [{ '/boxes/{id}/open-wide': ['post'], '/boxes/search': ['post'] }, 'boxes.openWide boxes.search'],
  [{ '/boxes/self': ['delete'] }, 'boxes.deleteSelf'],
  [{ '/v2/boxes': ['get'], '/v2/boxes/search': ['post'] }, 'boxes.listByCursor boxes.searchByCursor'],
  [{ '/tenants/self': ['get'], '/tenants/self/reports/usage': ['get'] }, 'tenant.get tenant.usage'],
  [{ '/tenants/self/members': ['get'], '/tenants/self/members/{id}': ['put'] }, 'members.list members.update'],
  [{ '/proxy': ['get', 'post'], '/proxy/{path}': ['get'] }, 'proxy proxy proxy'],
])('names follow from paths: %j', (methods, names) => {
  const paths = Object.fromEntries(
    Object.entries(methods).map(([path, verbs]) => [
      path,
      Object.fromEntries(verbs.map((verb) => [verb, { operationId: verb + path } as Part])),
    ]),
  );
  addMethodNames(paths);
  expect(
    Object.values(paths)
      .flatMap((item) => Object.values(item).map((one) => one['x-sluice-method']))
      .join(' '),
  ).toBe(names);
});

test('two operations with one name are refused', () => {
  const paths = {
    '/boxes': { post: { operationId: 'a' } },
    '/boxes/create': { post: { operationId: 'b' } },
    '/boxes/{id}': {},
  };
  expect(() => addMethodNames(paths)).toThrow('b and a would both be boxes.create');
});

test('it is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate({ ...document });
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
});

test('a document that is not valid is noticed', async () => {
  const { info: _, ...rest } = structuredClone(document);
  expect(await new Validator().validate(rest)).toMatchObject({ valid: false });
});

test('every reference leads somewhere', () => {
  const references = new Set(JSON.stringify(document).match(/(?<="\$ref":")[^"]+/g));
  expect(references.size).toBeGreaterThan(20);
  for (const reference of references) {
    const found = reference
      .split('/')
      .slice(1)
      .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document);
    expect([reference, typeof found]).toEqual([reference, 'object']);
  }
});

test('every component is referred to', () => {
  const text = JSON.stringify(document);
  const { securitySchemes: _, ...components } = document.components;
  const unused = Object.entries(components).flatMap(([kind, members]) =>
    Object.keys(members).filter((name) => !text.includes(`"#/components/${kind}/${name}"`)),
  );
  expect(unused).toEqual([]);
});

test('it has every operation once, and the invocation', () => {
  const described = Object.values(document.paths).flatMap((item) => Object.values(item).map((one) => one.operationId));
  const invocations = described.filter((id) => String(id).startsWith('invokeProxy'));
  expect(new Set(described).size).toBe(described.length);
  expect(described.filter((id) => !invocations.includes(id)).sort()).toEqual(
    [...all.map(({ id }) => id), 'getLedgerKey'].sort(),
  );
  expect(Object.keys(document.paths['/proxy/{path}'] ?? {})).toEqual(['get', 'post', 'put', 'patch', 'delete']);
});

test('every group that is used is described, and no other', () => {
  const used = Object.values(document.paths).flatMap((item) => Object.values(item).flatMap((one) => one.tags));
  expect([...new Set(used)].sort()).toEqual(document.tags.map(({ name }) => name).sort());
});

test('a failure that several operations have is a component, named after its code and text', () => {
  expect(Object.keys(document.components.responses ?? {})).toEqual(
    expect.arrayContaining([
      ...['NotFound', 'PreconditionFailed', 'ForbiddenTokenRead', 'ValidationFailedId', 'ValidationFailedBody'],
      ...['ConflictExistingResource', 'ConflictExistingResourceIdempotencyKey', 'PayloadTooLarge1048576Bytes'],
    ]),
  );
});

test('two failures with one name are refused', () => {
  const failure = { description: 'No.', content: { 'application/problem+json': { example: { type: 'a:not_found' } } } };
  const operation = (...responses: object[]) => ({ responses: Object.fromEntries(Object.entries(responses)) });
  const paths = { '/boxes': { get: operation(failure, failure, failure) } };
  expect(() => shareFailures({ ...document, paths, components: { responses: {} } })).not.toThrow();
  expect(paths['/boxes'].get.responses[0]).toEqual({ $ref: '#/components/responses/NotFound' });
  const others = { '/boxes': { get: operation(failure, failure, failure) } };
  expect(() => shareFailures({ ...document, paths: others })).toThrow('Two failures would be NotFound');
});
