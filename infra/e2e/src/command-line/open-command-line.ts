import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repositoryRoot } from '@sluice/local/parts';
import { openTemporaryFolder, programEnvironment, startDestination } from '@sluice/testing';
import { sharePlatform } from '../platform.ts';

export const mainFile = join(repositoryRoot, 'packages/cli/src/main.ts');

const { PATH: _, ...compiled } = programEnvironment();

export interface RunOptions {
  env?: Record<string, string>;
  stdin?: string;
  cwd?: string;
}

/** Runs the command line as a process of its own. Its output is no terminal, so it is JSON. */
export async function runSluice(typed: readonly string[], options: RunOptions = {}) {
  const { env = {}, stdin = '', cwd } = options;
  const child = spawn(process.execPath, [mainFile, ...typed], { env: { ...compiled, ...env }, ...(cwd && { cwd }) });
  const ended = new Promise<number | null>((done) => child.on('close', done));
  // A command that refuses before it reads leaves its input unread.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** A person at the command line, who is logged in. */
export async function openCommandLine(closing: AsyncDisposableStack) {
  const platform = await sharePlatform();
  const destination = await startDestination(closing);
  const home = await openTemporaryFolder(closing, 'home');
  const permissions = ['token:create', 'token:read', 'token:use', 'token:update', 'token:delete'];
  const backend = await platform.createApplication({ name: 'cli backend', permissions });
  const env = { XDG_CONFIG_HOME: join(home, 'config') };
  const { baseUrl, credentials } = platform.stack;
  const stdin = `${credentials.management_key}\n${backend.key}\n`;
  const login = await runSluice(['login', '--url', `${baseUrl}/`], { env, stdin });
  const sluice = (typed: readonly string[], options: RunOptions = {}) =>
    runSluice(typed, { cwd: home, ...options, env: { ...env, ...options.env } });
  return {
    ...{ platform, destination, sluice },
    home,
    env,
    login,
    /** The private Application whose key the profile holds, beside the management key. */
    backend,
    /** What a command printed, which must have succeeded; of any shape. */
    async json(typed: readonly string[], options?: RunOptions) {
      const { code, stdout, stderr } = await sluice(typed, options);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      return JSON.parse(stdout);
    },
    /** Writes a file below `home`; what is no text as JSON. */
    async write(name: string, content: string | object): Promise<void> {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), typeof content === 'string' ? content : JSON.stringify(content));
    },
  };
}
