import { useStack } from '@sluice/testing';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(openConsole);

const entry = /\/assets\/index-[^/]*\.js$/;
const whoAmI = /\/api\/me$/;

test('the frame is painted with the stylesheet alone, and who is signed in is asked for without waiting for the scripts', async () => {
  await using opened = await signIn(world.current);
  const { page, seen } = opened;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(entry, async (route) => {
    await released;
    await route.continue();
  });
  const before = seen.requests.length;
  const asked = page.waitForRequest(whoAmI);
  await page.goto(`${world.current.consoleUrl}/applications`, { waitUntil: 'commit' });
  await asked;
  await page.locator('.shell-side').waitFor();
  expect(await page.evaluate(() => getComputedStyle(document.body).fontFamily)).toContain('system-ui');
  await opened.screenshot('first-paint');
  release();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
  expect(seen.requests.slice(before).filter((url) => whoAmI.test(url))).toHaveLength(1);
  await page.unroute(entry);
});

test('the navigation is there before it is known who is signed in', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(whoAmI, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`${world.current.consoleUrl}/applications`, { waitUntil: 'commit' });
  await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Proxies' }).waitFor();
  await page.getByRole('status', { name: 'Loading' }).waitFor();
  await opened.screenshot('frame-pending');
  release();
  await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
  await page.unroute(whoAmI);
});
