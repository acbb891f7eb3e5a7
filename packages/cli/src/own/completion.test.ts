import { execFile } from 'node:child_process';
import { access, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type } from '../testing/test-command-line.ts';

test.each([
  [[], ['apply', 'applications', 'login', 'proxies', 'tokens']],
  [['proxies'], ['create', 'invoke', 'list', 'test']],
  [
    ['tokens', 'list'],
    ['--metadata', '--type', '--all', '--json', '--profile', '--help'],
  ],
  [
    ['tokens', 'list', '--all'],
    ['--type', '--json'],
  ],
  [
    ['apply', '-f', 'platform.yaml'],
    ['--prune', '--yes'],
  ],
])('after %j is offered what may come', async (words, offered) => {
  const { out } = await type(['complete', '--', ...words]);
  expect(out.split('\n')).toEqual(expect.arrayContaining(offered));
});

test.each([[['nonsense']], [['apply', '-f']], [['apply', '--file']], [['tokens', 'list', '--profile']]])(
  'nothing is offered after %j, so that the shell offers files',
  async (words) => {
    expect((await type(['complete', '--', ...words])).out).toBe('');
  },
);

test('a shell that there is no script for is a mistake', async () => {
  expect(await type(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    error: expect.stringContaining('bash, zsh or fish'),
  });
});

const shells: Record<string, (script: string, words: string[]) => string> = {
  bash: (script, words) => `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _sluice
printf '%s\\n' "\${COMPREPLY[@]}"`,
  // zsh offers what compadd and _files receive, which cannot be called outside of its line editor.
  zsh: (script, words) => `compdef() { }
compadd() { print -rl -- "\${offered[@]}"; (( \${#offered} )) }
_files() { print -rl -- *(N) }
${script.replace('#compdef sluice', '')}
words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; _sluice`,
  fish: (script, words) => `${script}
complete -C '${words.join(' ')}' | string replace -r '\\t.*' ''; true`,
};

const hasProgram = async (name: string) => {
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => access(join(folder, name)));
  return (await Promise.allSettled(found)).some(({ status }) => status === 'fulfilled');
};
const present = await Promise.all(Object.keys(shells).map(async (shell) => ((await hasProgram(shell)) ? [shell] : [])));

test('bash is there, so that completion is tried in one shell at least', () => {
  expect(present.flat()).toContain('bash');
});

describe.each(present.flat())('in %s, with its script and the program', (shell) => {
  test.each([
    [['sluice', 'proxies', 'te'], ['test'], ['test-transform']],
    [['sluice', 'tokens', 'list', '--m'], ['--metadata'], []],
    [['sluice', 'apply', '-f', 'plat'], ['platform.yaml'], ['--prune']],
  ])('%j', async (words, offered, others) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-completion-'));
    await using closing = new AsyncDisposableStack();
    closing.defer(() => rm(folder, { recursive: true, force: true }));
    const main = resolve(import.meta.dirname, '../main.ts');
    await writeFile(join(folder, 'sluice'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
    await chmod(join(folder, 'sluice'), 0o755);
    await writeFile(join(folder, 'platform.yaml'), '');
    const script = shells[shell]?.((await type(['completion', shell])).out, words) ?? '';
    const env = { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder };
    // Where the script offers nothing, bash's readline offers files itself: complete -o default.
    const options = shell === 'bash' && words.includes('-f') ? [] : offered;
    const { stdout } = await promisify(execFile)(shell, ['-c', script], { env, cwd: folder });
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(options));
    for (const other of others) expect(stdout).not.toContain(other);
  });
});
