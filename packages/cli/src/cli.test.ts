import { commands } from './commands.ts';
import { keys, type } from './testing/test-command-line.ts';

test.each(commands.map(({ words }) => words.join(' ')))('sluice %s --help says how it is used', async (words) => {
  const { code, out } = await type([...words.split(' '), '--help']);
  expect(code).toBe(0);
  expect(out).toContain(`Usage: sluice ${words}`);
  expect(out).toContain('--profile NAME');
});

test('no two commands are typed the same, and no command hides another', () => {
  const typed = commands.map(({ words }) => words.join(' '));
  expect(new Set(typed).size).toBe(typed.length);
});

test('an operation has one command', async () => {
  expect((await type(['proxies', '--help'])).out).not.toContain('test-transform');
});

test('help lists every command, and the commands of a resource', async () => {
  const { code, out } = await type(['--help']);
  expect(code).toBe(0);
  for (const { words } of commands) expect(out).toContain(words.at(-1));
  expect((await type(['proxies', '--help'])).out).toContain('sluice proxies test FILE');
});

test.each([
  [[keys.management], 'There is no command. "sluice --help" lists the commands.\n'],
  [['proxies', keys.management], 'There is no command proxies. There are: '],
  [['4242424242424242'], 'There is no command. '],
  [['aply'], 'There is no command aply. '],
  [
    ['--profile', 'staging', 'proxies', 'list'],
    'Options come after the command. "sluice --help" lists the commands.\n',
  ],
  [[`--key=${keys.private}`], 'Options come after the command. '],
  [['completion', 'constructor'], 'bash, zsh or fish'],
  [['completion', keys.private], 'bash, zsh or fish'],
])('a key or a value in the place of a word is not repeated: %j', async (typed, message) => {
  const { code, screen } = await type(typed);
  expect([code, screen]).toEqual([2, expect.stringContaining(message)]);
  expect(screen).not.toMatch(/svc_|4242/);
});

test.each([
  ['', 'Usage: sluice'],
  ['proxies nonsense', 'There are: create, list'],
  ['proxies get', 'ID is missing'],
  ['proxies get a b', 'too many arguments; the command takes ID'],
  ['proxies list --nonsense', 'The option --nonsense'],
  ['tokens list --metadata x', 'NAME=VALUE'],
  ['apply', 'Give -f FILE'],
])('"%s" is a mistake of usage', async (typed, message) => {
  const env = { SLUICE_URL: 'https://sluice.example.com', SLUICE_API_KEY: keys.private };
  const { code, screen } = await type(typed.split(' ').filter(Boolean), { env });
  expect([code, screen]).toEqual([2, expect.stringContaining(message)]);
});
