import { LaunchError } from './launch-error.ts';
import { CommandError } from './processes/run-command.ts';
import { credentialsFile } from './stack/credentials.ts';
import { readGivenSettings } from './stack/given-settings.ts';
import { fieldsOrigin, settingsOfLauncher } from './stack/services.ts';
import { type Stack, startStack } from './stack/stack.ts';
import { onStopRequest } from './stop-request.ts';

/** Variables that the launcher itself reads. */
const ownNames = ['PORT', 'SLUICE_DIR', 'REDIS_URL', 'NO_COLOR'];

export const help = `Usage: npm start

Runs the whole platform on this machine: Postgres, Redis, every service, and one base URL. Ctrl-C stops everything. The
data remains for the next start.

Settings (environment):
  PORT           port of the base URL on 127.0.0.1 (default 8080)
  SLUICE_DIR     folder of data, credentials and logs (default .sluice in the repository)
  REDIS_URL      a running Redis (default: one is started; on Debian and Ubuntu it is downloaded if there is none)
  NO_COLOR       no colours in the terminal
  The services also get all settings of infra/configuration/REFERENCE.md, for example LOG_LEVEL=debug or
  HEADER_PREFIX=ACME, except those that npm start sets itself:
${wrapped([...settingsOfLauncher()].filter((name) => !ownNames.includes(name) && !/^MALLOC_/.test(name)))}

In SLUICE_DIR:
  credentials.json   base URL, Tenant and management key
  logs/              a log for each process, emptied at each start
  environment        settings with which npm run tenant, keys and migrate reach this stack
If you delete the folder, all data is deleted.`;

export interface LaunchOptions {
  directory: string;
  port: string;
  redisUrl: string | undefined;
  /** Of every service, beside its settings. */
  environment: Record<string, string>;
  /** Holds settings of services. */
  env: NodeJS.ProcessEnv;
  colour: boolean;
  /** Whether npm runs the launcher, which then ends with npm. */
  byNpm: boolean;
}

/** Runs the stack until it is stopped. @returns the exit code: 0 when it was stopped, 1 when something went wrong. */
export async function launch(options: LaunchOptions): Promise<number> {
  const dim = (text: string) => (options.colour ? `\x1b[2m${text}\x1b[0m` : text);
  const log = (line: string) => console.log(dim(line));
  using stop = onStopRequest({ byNpm: options.byNpm });
  try {
    await using stack = new AsyncDisposableStack();
    const { signal } = stop;
    const { ofServices: settingsOf, hints } = await readGivenSettings(options.env, ownNames);
    for (const hint of hints) console.error(hint);
    const started = await startStack({
      ...options,
      settingsOf,
      port: readPort(options.port),
      restarts: true,
      log,
      signal,
    });
    stack.defer(() => started.close());
    console.log(readyText(started, await signInText(started), options));
    const death = await Promise.race([started.died, stop.requested]);
    if (death !== undefined) throw new LaunchError(death);
    log('Stopping');
    return 0;
  } catch (error) {
    if (stop.signal.aborted && error === stop.signal.reason) return 0;
    const text = error instanceof LaunchError ? error.message : error instanceof Error ? error.stack : String(error);
    console.error(options.colour ? `\x1b[31m${text}\x1b[0m` : text);
    return 1;
  }
}

/** Names in indented lines. */
function wrapped(names: readonly string[]): string {
  const lines: string[] = [];
  for (const name of names.toSorted()) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + name.length < 110) lines[lines.length - 1] = `${last}, ${name}`;
    else lines.push(`    ${name}`);
  }
  return lines.join(',\n');
}

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new LaunchError(`PORT must be a number from 0 to 65535; it is "${text}"`);
}

/** A stack whose first Tenant was deleted serves as before, so it starts without a link. */
async function signInText(stack: Stack): Promise<string> {
  try {
    return await stack.signInLink();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return `npm run console -- link --tenant <id> (${error.message.split('\n').at(-1)})`;
  }
}

function readyText({ baseUrl, credentials }: Stack, signIn: string, { directory, env, colour }: LaunchOptions): string {
  const bold = (text: string) => (colour ? `\x1b[1m${text}\x1b[0m` : text);
  const header = `${env.HEADER_PREFIX || 'SVC'}-API-KEY`;
  return `
Sluice is ready

  Base URL        ${bold(baseUrl)}
  Management key  ${bold(credentials.management_key)}
  Sign in         ${signIn}
  Hosted fields   ${fieldsOrigin(baseUrl)}
  Credentials     ${credentialsFile(directory)}
  Logs            ${directory}/logs

  The link signs in once, within five minutes; npm run console -- link makes another.

  Try:   curl -H '${header}: ${credentials.management_key}' ${baseUrl}/tenants/self
  Stop:  Ctrl-C
`;
}
