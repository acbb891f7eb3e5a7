import { slow, useStack } from '@sluice/testing';
import { startTestConsole } from '../../testing/test-console.ts';

const settings = { TRUSTED_PROXIES: '127.0.0.0/8, ::1/128' };
const from = (address: string) => ({ 'X-Forwarded-For': address });
const api = useStack((stack) => startTestConsole(stack, settings));

test('of a flood of attempts from one address most are 429, whatever they try, and others sign in', async () => {
  const { browser, tenant, metrics } = api.current;
  const flood = () => browser().signIn({ secret: 'x'.repeat(43) }, from('192.0.2.66'));
  const statuses: number[] = [];
  for (let i = 0; i < 25; i++) statuses.push((await flood()).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), ...Array.from({ length: 5 }, () => 429)]);
  const refused = await browser().signIn({ key: tenant.management_key }, from('192.0.2.66'));
  expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
  expect((await browser().signIn({ key: tenant.management_key }, from('192.0.2.67'))).status).toBe(204);
  expect(await metrics.getSingleMetricAsString('sluice_failed_sign_ins_total')).toMatch(/outcome="refused"\} 6/);
});

test('what succeeds does not count', async () => {
  const { browser, tenant } = api.current;
  for (let i = 0; i < 25; i++) {
    expect((await browser().signIn({ key: tenant.management_key }, from('192.0.2.68'))).status).toBe(204);
  }
});

slow('0.5 s')('without TRUSTED_PROXIES nothing is limited by address, and the start says so', async () => {
  await using stack = new AsyncDisposableStack();
  const { browser, logLines } = await startTestConsole(stack);
  for (let i = 0; i < 25; i++) expect((await browser().signIn({ secret: 'x' })).status).toBe(401);
  expect(logLines.join('')).toContain('failed sign-ins are not limited by address');
});
