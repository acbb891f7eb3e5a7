import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { committedFile, currentText } from './committed.ts';
import { describePlatform, operations } from './reference.ts';

const document = describePlatform('0.0.0');

test('the committed document is what the operation records say now', async () => {
  const isCurrent = (await readFile(committedFile, 'utf8')) === (await currentText());
  expect(isCurrent ? 'current' : `stale: run "npm run openapi" and commit ${committedFile.pathname}`).toBe('current');
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
  expect(described.filter((id) => !invocations.includes(id)).sort()).toEqual(operations.map(({ id }) => id).sort());
  expect(Object.keys(document.paths['/proxy/{path}'] ?? {})).toEqual(['get', 'post', 'put', 'patch', 'delete']);
});

test('every group that is used is described, and no other', () => {
  const used = Object.values(document.paths).flatMap((item) => Object.values(item).flatMap((one) => one.tags));
  expect([...new Set(used)].sort()).toEqual(document.tags.map(({ name }) => name).sort());
});
