import { LaunchError } from './launch-error.ts';
import { credentialsFile } from './stack/credentials.ts';
import { type Stack, startStack } from './stack/stack.ts';
import { onStopRequest } from './stop-request.ts';

export const help = `Usage: npm start

Runs the whole platform on this machine: Postgres, Redis, every service, and one base URL. Ctrl-C stops it all; data
stay for the next start.

Settings (environment):
  PORT           port of the base URL on 127.0.0.1 (default 8080)
  SLUICE_DIR     folder of data, credentials and logs (default .sluice in the repository)
  REDIS_URL      a Redis that runs already (default: one is started, and downloaded on Debian and Ubuntu if there is none)
  HEADER_PREFIX  first part of the names of our own headers (default SVC)
  LOG_LEVEL      least severity that services log: fatal, error, warn, info, debug, trace (default info)
  NO_COLOR       no colours in the terminal
  OTEL_EXPORTER_OTLP_ENDPOINT
                 collector that services send traces to, for example http://127.0.0.1:4318 (default none)

In SLUICE_DIR:
  credentials.json   base URL, Tenant and management key
  logs/              a log for each process, emptied at each start
  environment        what npm run tenant, keys and migrate need to reach this stack
Removing the folder removes all data.`;

export interface LaunchOptions {
  directory: string;
  port: string;
  redisUrl: string | undefined;
  environment: Record<string, string>;
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
    const started = await startStack({ ...options, port: readPort(options.port), log, signal });
    stack.defer(() => started.close());
    console.log(readyText(started, options));
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

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new LaunchError(`PORT must be a number from 0 to 65535; it is "${text}"`);
}

function readyText({ baseUrl, credentials }: Stack, { directory, environment, colour }: LaunchOptions): string {
  const bold = (text: string) => (colour ? `\x1b[1m${text}\x1b[0m` : text);
  const header = `${environment.HEADER_PREFIX ?? 'SVC'}-API-KEY`;
  return `
Sluice is ready

  Base URL        ${bold(baseUrl)}
  Management key  ${bold(credentials.management_key)}
  Credentials     ${credentialsFile(directory)}
  Logs            ${directory}/logs

  Try:   curl -H '${header}: ${credentials.management_key}' ${baseUrl}/tenants/self
  Stop:  Ctrl-C
`;
}
