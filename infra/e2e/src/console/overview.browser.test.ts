import type { TenantMetrics } from '@sluice/sdk';
import { eventually, serveHttp, useStack } from '@sluice/testing';
import type { Page } from 'playwright-core';
import { clientOf } from '../platform.ts';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(async (closing) => {
  const platform = await openConsole();
  const destination = await serveHttp(closing, ({ url }, response) => {
    response.writeHead(url?.includes('fail') ? 500 : 200, { 'content-type': 'application/json' }).end('{}');
  });
  return { ...platform, destination };
});

const stepsOf = { hour: [60, 60], day: [96, 900], week: [84, 7_200], month: [120, 21_600] } as const;
type Range = keyof typeof stepsOf;

/** Figures of a range with something in each step, but for the `unknown` steps at its beginning. */
function busy(range: Range, unknown = 0): TenantMetrics {
  const [steps, stepS] = stepsOf[range];
  const toMs = Math.ceil(Date.now() / (stepS * 1000)) * stepS * 1000;
  const fromMs = toMs - steps * stepS * 1000;
  const list = (of: (at: number) => number) =>
    Array.from({ length: steps }, (_, at) => (at < unknown ? null : Math.round(of(at) * 10) / 10));
  const wave = (at: number) => 1 + Math.sin(at / 6) * 0.6 + ((at * 7919) % 13) / 20;
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    step_s: stepS,
    known_from: new Date(fromMs + unknown * stepS * 1000).toISOString(),
    requests: list((at) => Math.round(wave(at) * 800)),
    errors: {
      invalid_proxy_request: list((at) => (at % 9 === 0 ? 12 : 0)),
      destination_timeout: list((at) => (at % 17 === 0 ? 31 : 1)),
    },
    destination_errors: list((at) => (at > steps * 0.7 && at < steps * 0.78 ? 160 : 3)),
    latency_ms: { p50: list((at) => 38 + wave(at) * 4), p99: list((at) => 160 + wave(at) * 60) },
  };
}

/** Answers for the service what it knows of each range. */
async function answerMetrics(page: Page, of: (range: Range) => TenantMetrics): Promise<void> {
  await page.route('**/api/tenants/self/metrics*', (route) => {
    const range = (new URL(route.request().url()).searchParams.get('range') ?? 'hour') as Range;
    return route.fulfill({ json: of(range) });
  });
}

test('a busy month has its numbers, its unknown part, and a read-out for pointer and keyboard', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await answerMetrics(page, (range) => busy(range, range === 'month' ? 40 : 0));
  await opened.goto('/?range=month', 'Overview');
  await page.getByText('no data yet').first().waitFor();
  await opened.look('overview-month');
  await page.getByRole('link', { name: 'Day', exact: true }).click();
  await page.getByRole('heading', { name: 'Invocations a quarter of an hour' }).waitFor();
  expect(new URL(page.url()).search).toBe('?range=day');
  const steps = page.getByRole('slider', { name: /^Steps of Invocations/ });
  await steps.focus();
  await page.keyboard.press('ArrowLeft');
  await opened.look('overview-day');
});
