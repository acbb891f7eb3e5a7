import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, repositoryRoot } from '@sluice/local/parts';
import { eventually, openTemporaryFolder, programEnvironment, startDestination, useStack } from '@sluice/testing';
import { openBrowser } from '@sluice/testing/browser';
import { sharePlatform } from '../platform.ts';

const cardNumber = '5555555555554444';

/** The page, its script and the server of the guide, in this order, and the commands that set up and start them. */
async function readGuide(): Promise<{ files: string[]; commands: string }> {
  const guide = await readFile(join(repositoryRoot, 'infra/guides/collect-a-card.md'), 'utf8');
  const blocks = [...guide.matchAll(/^```(html|javascript|console)\n(.*?)^```$/gms)];
  const textsOf = (isWanted: (language: string) => boolean) =>
    blocks.flatMap(([, language = '', text = '']) => (isWanted(language) ? [text] : []));
  return {
    files: textsOf((language) => language !== 'console').slice(0, 3),
    commands: textsOf((language) => language === 'console').join(''),
  };
}

const replaceAll = (text: string, words: Record<string, string>) =>
  Object.entries(words).reduce((so, [word, value]) => so.replaceAll(word, value), text);

const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  const destination = await startDestination(closing);
  const { openPage } = await openBrowser();

  /** Does what the guide says, in a folder and on ports of its own, with `changes` of its files. */
  async function openGuide(stack: AsyncDisposableStack, changes: Record<string, string> = {}): Promise<string> {
    const port = await freePort();
    const origin = `http://shop.localhost:${port}`;
    const { files, commands } = await readGuide();
    const folder = await openTemporaryFolder(stack, 'guide');
    for (const name of ['node_modules', 'packages']) await symlink(join(repositoryRoot, name), join(folder, name));
    for (const [index, name] of ['pay.html', 'pay.js', 'server.mjs'].entries())
      await writeFile(join(folder, name), replaceAll(files[index] ?? '', changes));
    const script = replaceAll(commands, {
      'http://localhost:3000': origin,
      'PORT=3000': `PORT=${port}`,
      'http://127.0.0.1:7000': destination.url,
      'http://fields.localhost:8080': `http://fields.localhost:${new URL(platform.stack.baseUrl).port}`,
    });
    const { HOME = '' } = process.env;
    const child = spawn('bash', ['-euc', script], {
      cwd: folder,
      env: { ...programEnvironment(), HOME, SLUICE_DIR: platform.directory },
      stdio: ['ignore', 'ignore', 'inherit'],
      // A group of its own, so that the server ends with it.
      detached: true,
    });
    const ended = once(child, 'exit');
    stack.defer(async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
      await ended;
    });
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
])('the page runs nothing of %s', async (_, changes, expected) => {
  await using stack = new AsyncDisposableStack();
  const { openPage, openGuide } = world.current;
  const { page, seen } = await openPage(stack);
  await page.goto(await openGuide(stack, changes));
  await eventually('the browser refuses', () => seen.errors.some((text) => expected.test(text)));
  expect(await page.getByRole('button', { name: 'Pay' }).isEnabled()).toBe(false);
});
