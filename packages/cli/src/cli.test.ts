import { execFile } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { run } from './cli.ts';
import { commands } from './commands.ts';

/** What is typed at a terminal, and what is written there. */
async function type(...typed: string[]) {
  const written = { out: '', error: '' };
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const stderr = new PassThrough();
  stdout.on('data', (chunk) => (written.out += chunk));
  stderr.on('data', (chunk) => (written.error += chunk));
  const { signal } = new AbortController();
  const code = await run(typed, { stdin: new PassThrough(), stdout, stderr, env: {}, signal });
  return { code, ...written };
}

test.each(commands.map(({ words }) => words.join(' ')))('sluice %s --help says how it is used', async (words) => {
  const { code, out } = await type(...words.split(' '), '--help');
  expect(code).toBe(0);
  expect(out).toContain(`Usage: sluice ${words}`);
  expect(out).toContain('--profile NAME');
});

test('no two commands are typed the same, and no command hides another', () => {
  const typed = commands.map(({ words }) => words.join(' '));
  expect(new Set(typed).size).toBe(typed.length);
});

test('help lists every command, and the commands of a resource', async () => {
  const { code, out } = await type('--help');
  expect(code).toBe(0);
  for (const { words } of commands) expect(out).toContain(words.at(-1));
  expect((await type('proxies', '--help')).out).toContain('sluice proxies test FILE');
});

test.each([
  [[], ['apply', 'applications', 'login', 'proxies', 'tokens']],
  [['proxies'], ['create', 'invoke', 'list', 'test']],
  [
    ['tokens', 'list'],
    ['--metadata', '--type', '--all'],
  ],
])('after %j is offered what may come', async (words, offered) => {
  const { out } = await type('complete', '--', ...words);
  expect(out.split('\n')).toEqual(expect.arrayContaining(offered));
});

test('nothing is offered after a word that is none', async () => {
  expect((await type('complete', '--', 'nonsense')).out).toBe('');
});

test('bash takes the completion script, and completes with it', async () => {
  const { out } = await type('completion', 'bash');
  const script = `${out}
sluice() { printf '%s\\n' "\${@:3}" create list; }
COMP_WORDS=(sluice proxies cr); COMP_CWORD=2; _sluice; echo "\${COMPREPLY[*]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  expect(stdout).toBe('create\n');
});

test.each(['zsh', 'fish'])('the script for %s asks the program', async (shell) => {
  expect((await type('completion', shell)).out).toContain('sluice complete --');
});
