import { slow, useStack } from '@sluice/testing';
import { compilerConfigFrom } from '../testing/compiler-config.ts';
import { shareTestManagement } from '../testing/test-management.ts';
import { openCompiler } from './open-compiler.ts';

const api = useStack(() => shareTestManagement());

/** QuickJS compares each private name with all before it, which takes several seconds. */
const slowToParse = `class A { ${Array.from({ length: 40_000 }, (_, at) => `#n${at.toString(36)};`).join('')} }`;

slow('2.2 s')('code that takes too long to be parsed is 422, and not an error of ours', async () => {
  const body = { name: 'P', destination_url: 'https://example.com', request_transform: { code: slowToParse } };
  const answer = await api.current.send('POST', '/proxies', { body });
  expect(answer.status).toBe(422);
  expect(answer.body.errors['request_transform.code'][0]).toMatch(/^The transform was stopped: it (used|took) /);
});

slow('2.9 s')('while the code of one Tenant is being parsed, the code of another is', async () => {
  await using stack = new AsyncDisposableStack();
  // Only processor time counts, because the machine may be busy
  const compiler = openCompiler(compilerConfigFrom({ TRANSFORM_CPU_MS: '1000' }), stack, 600_000);
  const answered: string[] = [];
  const compile = (tenantId: string, code: string) =>
    compiler.compile(code, tenantId).then(
      () => answered.push(`${tenantId} compiles`),
      () => answered.push(`${tenantId} is stopped`),
    );
  await Promise.all([compile('slow', slowToParse), compile('slow', slowToParse), compile('quick', 'return 1')]);
  expect(answered).toEqual(['quick compiles', 'slow is stopped', 'slow is stopped']);
});
