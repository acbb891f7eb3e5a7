import { slow, useStack } from '@sluice/testing';
import { shareTestManagement, startTestManagement } from '../testing/test-management.ts';

const settings = { TRANSFORM_STACK_BYTES: '65536', TRANSFORM_WALL_MS: '1', TRANSFORM_CPU_MS: '20000' };
const configured = useStack((stack) => startTestManagement(stack, settings));
const usual = useStack(() => shareTestManagement());

type Api = Awaited<ReturnType<typeof shareTestManagement>>;

const post = (api: Api, code: string) =>
  api.send('POST', '/proxies', {
    body: { name: 'P', destination_url: 'https://example.com', request_transform: { code } },
  });

/** Beyond a stack of 64 KiB. */
const nested = `module.exports = () => ${'['.repeat(1_500)}${']'.repeat(1_500)}`;
/** Its parsing takes some tenths of a second. */
const privateNames = `class A { ${Array.from({ length: 10_000 }, (_, at) => `#n${at.toString(36)};`).join('')} }`;

test('code that the configured limits would stop in the gateway is 422 when it is written', async () => {
  const { status, body } = await post(configured.current, nested);
  expect(status).toBe(422);
  expect(body.errors['request_transform.code'][0]).toMatch(/stack overflow/);
  expect((await post(usual.current, nested)).status).toBe(201);
});

slow('0.8 s')('the configured duration of a run is not that of parsing, which may wait for a core', async () => {
  expect((await post(configured.current, privateNames)).status).toBe(201);
});
