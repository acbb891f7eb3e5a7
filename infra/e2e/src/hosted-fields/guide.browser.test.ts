import { spawn } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, repositoryRoot } from '@sluice/local/parts';
import { eventually, openTemporaryFolder, startDestination, useStack } from '@sluice/testing';
import { openBrowser } from '@sluice/testing/browser';
import { sharePlatform } from '../platform.ts';

const cardNumber = '5555555555554444';
const file = (name: string) => readFile(join(repositoryRoot, name), 'utf8');

/** The page, its script and the server of the guide, in this order. */
async function readGuide(): Promise<[html: string, script: string, server: string]> {
  const guide = await file('infra/guides/collect-a-card.md');
  const blocks = [...guide.matchAll(/^```(?:html|javascript)\n(.*?)^```$/gms)].map(([, text = '']) => text);
  const [html = '', script = '', server = ''] = blocks;
  return [html, script, server];
}

const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  const vault = `http://fields.localhost:${new URL(platform.stack.baseUrl).port}`;
  const destination = await startDestination(closing);
  const proxy = await platform.createProxy({ destination_url: destination.url });
  const server = await platform.createApplication({ permissions: ['token:use', 'token:delete'] });
  const hashes: Record<string, Record<string, string>> = JSON.parse(
    await file('packages/elements/released/integrity.json'),
  );
  const { openPage } = await openBrowser();

  /** Runs what the guide says, with the words that it leaves to its reader, and with `more` changes. */
  async function openGuide(stack: AsyncDisposableStack, more: Record<string, string> = {}): Promise<string> {
    const port = await freePort();
    const origin = `http://shop.localhost:${port}`;
    const page = await platform.createApplication({
      type: 'public',
      permissions: ['token:create'],
      allowed_origins: [origin],
    });
    const words = {
      'sha384-HASH': hashes['0.2.0']?.['elements.js'] ?? '',
      PUBLIC_KEY: page.key,
      APPLICATION_ID: page.id,
      ...more,
      'https://fields.example.com': vault,
    };
    const filled = (text: string) =>
      Object.entries(words).reduce((so, [word, value]) => so.replaceAll(word, value), text);
    const folder = await openTemporaryFolder(stack, 'guide');
    await symlink(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
    const [html, script, program] = (await readGuide()).map(filled);
    await writeFile(join(folder, 'pay.html'), html ?? '');
    await writeFile(join(folder, 'pay.js'), script ?? '');
    await writeFile(join(folder, 'server.mjs'), program ?? '');
    const settings = { SLUICE_URL: platform.stack.baseUrl, SLUICE_API_KEY: server.key, PROXY_KEY: proxy.key };
    const child = spawn(process.execPath, ['server.mjs'], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', ...settings, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    stack.defer(() => void child.kill());
    await eventually('the server of the guide answers', () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return origin;
  }

  return { openPage, openGuide, destination };
});

test('the page and the server of the guide take a card, under the policy of the guide', async () => {
  await using stack = new AsyncDisposableStack();
  const { openPage, openGuide, destination } = world.current;
  const url = await openGuide(stack);
  const { page, seen } = await openPage(stack);
  await page.goto(url);
  await page.locator('#card iframe').contentFrame().locator('[name=cardnumber]').click();
  await page.locator('#card[data-field~=focused]').waitFor();
  await page.keyboard.type(`${cardNumber}`, { delay: 30 });
  await page.keyboard.press('Tab');
  await page.keyboard.type('1235', { delay: 30 });
  await page.keyboard.press('Tab');
  await page.keyboard.type('987', { delay: 30 });
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.getByText('Paid').waitFor();
  expect(JSON.stringify(destination.seen.at(-1))).toContain(cardNumber);
  expect(seen).toMatchObject({ errors: [], violations: [] });
});

test.each<[string, Record<string, string>, RegExp]>([
  ['a file that is not the one that it names', { 'sha384-HASH': `sha384-${'A'.repeat(64)}` }, /integrity|digest/i],
  [
    'frames of a vault that its policy does not name',
    { 'frame-src https://fields.example.com/elements/': 'frame-src x.example' },
    /frame-src/,
  ],
])('the page runs nothing of %s', async (_, more, expected) => {
  await using stack = new AsyncDisposableStack();
  const { openPage, openGuide } = world.current;
  const { page, seen } = await openPage(stack);
  await page.goto(await openGuide(stack, more));
  await eventually('the browser refuses', () => seen.errors.some((text) => expected.test(text)));
  expect(await page.getByRole('button', { name: 'Pay' }).isEnabled()).toBe(false);
});
