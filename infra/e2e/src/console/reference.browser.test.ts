import { useStack } from '@sluice/testing';
import { openConsole, signIn } from './open-console.ts';

const world = useStack(openConsole);

test('the reference of the API is read at the host of the console, and leads back', async () => {
  await using opened = await signIn(world.current);
  const { page } = opened;
  await page.getByRole('link', { name: 'API reference' }).click();
  await page.waitForURL(`${world.current.consoleUrl}/docs`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await opened.screenshot('reference');
  await page.keyboard.press('/');
  await page.keyboard.type('create a proxy');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs#createProxy$/);
  await page.getByRole('link', { name: 'Console', exact: true }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
