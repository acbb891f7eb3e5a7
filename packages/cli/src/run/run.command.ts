import { SluiceError } from '@sluice/sdk';
import { type Command, type Input, textOf, textsOf } from '../command.ts';
import { UsageError } from '../failure.ts';
import { tell } from '../output/print.ts';
import { connectWithAllKeys, type ProfileClients } from '../profile/connect.ts';
import { profilesFile } from '../profile/profiles.ts';
import { findRoutes } from '../routes/find-routes.ts';
import { openRouteSession, type RouteSession } from '../routes/open-route-session.ts';
import { readRouteOptions, routeOptions } from '../routes/options.ts';
import type { Terminal } from '../terminal.ts';
import { planEnvironment, readNamedVariables } from './environment.ts';
import { CommandNotStarted, type Ending, endLike, type Running, runCommand } from './run-command.ts';
import { readCalls } from './show-calls.ts';
import { openWatchdog, type Watchdog } from './watchdog.ts';

const warnBeforeSeconds = 60;
const endWithinMs = 5000;
const showWithinMs = 10_000;

export const runWithRoutes: Command = {
  words: ['run'],
  summary: 'Run a command that can call the named routes. Its only key belongs to a session that ends with the command',
  arguments: [],
  behindDashes: 'COMMAND [ARGUMENT…]',
  options: {
    ...routeOptions,
    env: {
      type: 'string',
      multiple: true,
      value: 'NAME=ROUTE:url|key',
      description: "sets a variable to a route's base URL, or to the key",
    },
    quiet: { type: 'boolean', short: 'q', description: 'print nothing' },
  },
  notes: `For each route the command gets <NAME>_BASE_URL and <NAME>_API_KEY. NAME is the path_name in capitals, with _ in place of -.
Known clients of OpenAI and Anthropic, and git, need no further settings: each uses the route that leads to its destination.
The command gets no variable that begins with SLUICE_.

The command runs as you, so it could read the keys of the profile. To prevent this, run the command as another user or in a
container. "Run a command without credentials" in infra/guides shows how.

The profile needs a public, a private and a management key. The management key needs proxy:read. This permission also shows
the configuration of Proxies. If the management key also has log:read, the calls are listed at the end. The private key needs
token:use.

sluice run ends with the exit code or the signal of the command. The exit code is 127 if the command was not found, and 126
if it could not be started. If sluice run fails before the command starts, the exit code is 1 for a refusal, 2 for wrong
arguments, and 3 for a service that is unreachable or unavailable.`,
  async run(input, terminal) {
    const ending = await runOnce(input, terminal);
    return typeof ending === 'number' ? ending : endLike(ending);
  },
};

async function runOnce(input: Input, terminal: Terminal): Promise<Ending | number> {
  if (process.platform === 'win32')
    throw new UsageError('sluice run needs Linux or macOS, for signals and the watchdog');
  const wish = readRouteOptions(input);
  const named = readNamedVariables(textsOf(input, 'env'), wish.routes);
  const say = input.values.quiet === true ? () => undefined : (text: string) => tell(terminal, `sluice run: ${text}`);
  // A terminal that is gone must not end the session of a command that goes on.
  terminal.stderr.on('error', () => undefined);
  const clients = await connectWithAllKeys(terminal, textOf(input, 'profile'));
  using watchdog = openWatchdog(terminal.env);
  const proxies = await findRoutes(clients.management, wish.routes, terminal.signal);
  const planned = planEnvironment({ url: clients.url, proxies, named, env: terminal.env });
  const { url, headerPrefix } = clients;
  const session = await openRouteSession(clients, proxies, {
    ...{ ...wish, signal: terminal.signal },
    onKey: (key) => watchdog.guard({ url, headerPrefix, key }),
  });
  try {
    await watchdog.confirm();
  } catch (error) {
    await endWithoutWatchdog(say, session);
    throw error;
  }
  sayBefore(say, session, profilesFile(terminal.env));
  for (const note of planned.notes) say(note);
  terminal.signal.throwIfAborted();
  const running = runCommand(input.behindDashes ?? [], planned.withKey(session.key), say);
  const timers = sayInTime(say, session, wish.seconds);
  watchdog.onLost(() =>
    say(
      `the watchdog was ended. The watchdog is the process that ends the session. If sluice run is killed now, the key stays valid until ${timeOf(session)}`,
    ),
  );
  try {
    const ending = await running.ended;
    await finish({ say, session, watchdog, clients, running, isQuiet: input.values.quiet === true });
    return ending;
  } catch (error) {
    if (!(error instanceof CommandNotStarted)) throw error;
    tell(terminal, error.message);
    await endSession({ say, session, watchdog, running });
    return error.exitCode;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

type Say = (text: string) => void;

function sayBefore(say: Say, session: RouteSession, file: string): void {
  say(`the key for the routes is valid until the command ends, at the latest until ${timeOf(session)}`);
  say(
    `the command runs as you, so it could read the keys in ${file}. With the management key it could see the configuration of Proxies. To keep the command from these keys, run it as another user or in a container`,
  );
}

function sayInTime(say: Say, session: RouteSession, seconds: number): NodeJS.Timeout[] {
  const after = (delaySeconds: number, text: string) => setTimeout(() => say(text), delaySeconds * 1000);
  return [
    ...(seconds > warnBeforeSeconds
      ? [
          after(
            seconds - warnBeforeSeconds,
            `the session ends in a minute, at ${timeOf(session)}; calls are then refused (401)`,
          ),
        ]
      : []),
    after(seconds, 'the session has ended; calls are refused (401)'),
  ];
}

function timeOf({ expiresAt }: RouteSession): string {
  const isToday = expiresAt.toDateString() === new Date().toDateString();
  return expiresAt.toLocaleString([], { ...(!isToday && { dateStyle: 'medium' }), timeStyle: 'medium' });
}

interface Ended {
  say: Say;
  session: RouteSession;
  watchdog: Watchdog;
  running: Running;
}

interface Finishing extends Ended {
  isQuiet: boolean;
  clients: ProfileClients;
}

/** A signal ends the waiting; the watchdog goes on. */
async function finish({ isQuiet, clients, ...ended }: Finishing): Promise<void> {
  await endSession(ended);
  const { say, session, running } = ended;
  const { hurried } = running;
  if (isQuiet || hurried.aborted) return;
  const late = AbortSignal.timeout(showWithinMs);
  try {
    const lines = await readCalls(clients.management, session.id, AbortSignal.any([hurried, late]));
    for (const line of lines ?? []) say(line);
  } catch (error) {
    if (hurried.aborted) return;
    const reason = late.aborted ? `the log did not answer within ${showWithinMs / 1000} s` : reasonOf(error);
    say(`the calls cannot be shown: ${reason}`);
  }
}

async function endSession({ say, session, watchdog, running }: Ended): Promise<void> {
  const state = await watchdog.end(endWithinMs, running.hurried);
  if (state === 'lost') await endWithoutWatchdog(say, session);
  else if (state === 'trying')
    say(
      `the session has not ended yet. A second process keeps trying; the session ends at the latest at ${timeOf(session)}`,
    );
}

async function endWithoutWatchdog(say: Say, session: RouteSession): Promise<void> {
  try {
    await session.end({ timeoutMs: endWithinMs });
  } catch (error) {
    say(`the session could not be ended, and stays valid until ${timeOf(session)}: ${reasonOf(error)}`);
  }
}

/** @throws what is no failure of a call. */
function reasonOf(error: unknown): string {
  if (error instanceof SluiceError) return error.message;
  throw error;
}
