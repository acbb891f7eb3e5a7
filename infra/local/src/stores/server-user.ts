import { chmod, chown, mkdir, readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { LaunchError } from '../launch-error.ts';
import type { ProcessUser } from '../processes/child.ts';
import { type Bounds, CommandError, runCommand } from '../processes/run-command.ts';

/** In a user namespace, the number of nobody stands for the user who created it. */
const inNamespace: ProcessUser = { prefix: ['unshare', '--user', '--map-user=65534', '--'] };

/**
 * Postgres refuses to run as root, and as a user without a name. If this process is root, an unprivileged user is
 * chosen who can reach the program and the folder, and receives the folder; otherwise a user namespace, in which the
 * user's files stay accessible.
 * @param folder used by this server only; created here with mode 0700
 * @throws {LaunchError} where neither works
 */
export async function chooseServerUser(program: string, folder: string, bounds: Bounds): Promise<ProcessUser> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) {
    return !hasName() && (await reaches(inNamespace, program, folder, bounds)) ? inNamespace : {};
  }
  await chmod(dirname(folder), 0o711); // others may pass through to the server's folder, but list nothing
  for (const user of await unprivilegedUsers()) {
    await chown(folder, user.uid, user.gid);
    if (await reaches(user, program, folder, bounds)) return user;
  }
  await chown(folder, 0, 0);
  if (await reaches(inNamespace, program, folder, bounds)) return inNamespace;
  throw new LaunchError(
    `Postgres does not run as root, and the user nobody cannot reach ${program} and ${folder}: start as an ordinary user, or move the repository to a folder that others may enter`,
  );
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false; // libuv reports that the user database has no entry
  }
}

async function unprivilegedUsers(): Promise<{ uid: number; gid: number }[]> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  return ['postgres', 'nobody'].flatMap((name) => {
    const [, , uid, gid] = lines.find(([user]) => user === name) ?? [];
    return uid && gid ? [{ uid: Number(uid), gid: Number(gid) }] : [];
  });
}

async function reaches(user: ProcessUser, program: string, folder: string, bounds: Bounds): Promise<boolean> {
  try {
    await runCommand('sh', ['-c', 'cd "$1" && exec "$2" --version', 'sh', folder, program], { ...bounds, user });
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}
