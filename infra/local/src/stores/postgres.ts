import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '@sluice/service-runtime/free-port';
import { readOrCreate } from '../private-file.ts';
import { startLogged } from '../processes/child.ts';
import { endLeftover, endOrphans } from '../processes/leftover.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import { untilPostgresAnswers } from './postgres-answer.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { prepareFiles } from './postgres-files.ts';
import type { Server } from './server.ts';
import { chooseServerUser } from './server-user.ts';

export interface PostgresOptions {
  /** Holds the data and the password; used by this server only. */
  folder: string;
  logFile: string;
  /** Settings of postgresql.conf, added to the defaults. */
  settings: Record<string, string>;
  log: (line: string) => void;
  signal: AbortSignal | undefined;
  watchdog: Watchdog;
}

const superuser = 'sluice';
const database = 'sluice';

/** "Fast shutdown": ends sessions, rolls back, writes a checkpoint. */
const stopSignal = 'SIGINT';

/** The log must name neither statements nor their values. */
const ourSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/** Prepares programs, user, port, password, and data files where there are none yet. */
export async function preparePostgres(options: PostgresOptions): Promise<Server> {
  const { folder, logFile, settings, signal, watchdog } = options;
  const { initdb, postgres } = await findPostgresBinaries();
  const user = await chooseServerUser(postgres, folder, options);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  const password = await readOrCreate(passwordFile, () => randomBytes(24).toString('base64url'));
  await prepareFiles({ data, passwordFile, initdb, superuser, user }, options);

  const port = await freePort();
  const url = `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;
  const flags = Object.entries({ ...ourSettings, ...settings, port: String(port) });
  const args = ['-D', data, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  return {
    url,
    logFile,
    stopSignal,
    async spawn() {
      await endLeftover(join(data, 'postmaster.pid'), data, stopSignal);
      await endOrphans(data, 'postgres');
      return startLogged({ command: postgres, args, env: {}, logFile, stopSignal, user }, watchdog);
    },
    untilAnswering: (child) => untilPostgresAnswers({ child, url, logFile, signal }),
  };
}
