import { chown, rename, rm, stat } from 'node:fs/promises';
import { errorCode } from '../launch-error.ts';
import type { ProcessUser } from '../processes/child.ts';
import { type Bounds, runCommand } from '../processes/run-command.ts';

export interface PostgresFiles {
  data: string;
  passwordFile: string;
  initdb: string;
  superuser: string;
  user: ProcessUser;
}

/** Sorts by code point and knows Unicode's cases, on every machine alike. */
const localeFlags = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/** Creates the data files where there are none, and gives them to the user who runs the server this time. */
export async function prepareFiles(
  files: PostgresFiles,
  bounds: Bounds & { log: (line: string) => void },
): Promise<void> {
  const { data, passwordFile, user } = files;
  const { uid = 0, gid = 0 } = user;
  const root = process.getuid?.() === 0;
  if (root) await chown(passwordFile, uid, gid);
  const owner = await ownerOf(data);
  if (owner === undefined) {
    bounds.log('Creating the database');
    await initialize(files, bounds);
  } else if (root && owner !== uid) {
    await runCommand('chown', ['-R', `${uid}:${gid}`, data], bounds);
  }
}

/** Creates them under another name first, so that data files that exist are complete. */
async function initialize({ data, passwordFile, initdb, superuser, user }: PostgresFiles, bounds: Bounds) {
  const unfinished = `${data}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const access = [`--username=${superuser}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  await runCommand(initdb, ['-D', unfinished, ...access, ...localeFlags], { ...bounds, env: {}, user });
  await rename(unfinished, data);
}

async function ownerOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).uid;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
