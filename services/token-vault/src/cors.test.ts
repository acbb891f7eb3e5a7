import { call, createTestDatabase, createTestSecrets, startTestService, useStack } from '@sluice/testing';
import { configSchema } from './config.ts';
import { start } from './service.ts';

const page = 'https://shop.example';

const services = useStack(async (stack) => {
  const { url: databaseUrl } = await createTestDatabase(stack);
  const secrets = createTestSecrets();
  const startWith = async (settings: Record<string, string>) =>
    (await startTestService({ configSchema, start }, { databaseUrl, secrets, stack, settings })).url;
  return { open: await startWith({}), listed: await startWith({ CORS_ORIGINS: `https://other.example, ${page}` }) };
});

function preflight(url: string, path: string, origin = page) {
  const headers = { Origin: origin, 'Access-Control-Request-Method': 'POST' };
  return call(url, 'OPTIONS', path, { headers });
}

test.each(['/tokens', '/tokenize'])('any page may ask for POST %s, and is told so on the answer too', async (path) => {
  const { open } = services.current;
  const asked = await preflight(open, path);
  expect(asked.status).toBe(204);
  expect(asked.headers.get('access-control-allow-origin')).toBe('*');
  expect(asked.headers.get('access-control-allow-methods')).toBe('POST');
  expect(asked.headers.get('access-control-allow-headers')).toContain('SVC-API-KEY');
  const answer = await call(open, 'POST', path, { body: {}, headers: { Origin: page } });
  expect(answer.status).toBe(401);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
});

test('only the origins that are listed, where a list is set', async () => {
  const { listed } = services.current;
  const mine = await preflight(listed, '/tokens');
  expect(mine.headers.get('access-control-allow-origin')).toBe(page);
  expect(mine.headers.get('vary')).toBe('Origin');
  const others = await preflight(listed, '/tokens', 'https://evil.example');
  expect(others.headers.get('access-control-allow-origin')).toBeNull();
});

test('everything else is closed: reading, detokenizing, other methods of the same path', async () => {
  const { open } = services.current;
  for (const [method, path] of [
    ['POST', '/detokenize'],
    ['GET', '/tokens/abc'],
    ['GET', '/tokens'],
  ] as const) {
    const answer = await call(open, method, path, { headers: { Origin: page } });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  }
});
