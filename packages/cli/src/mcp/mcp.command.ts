import { type Command, type Input, textOf } from '../command.ts';
import { exitCodes, Interrupted, UsageError } from '../failure.ts';
import { tell } from '../output/print.ts';
import { connectWithAllKeys, type ProfileClients } from '../profile/connect.ts';
import { findRoutes, type RouteProxy } from '../routes/find-routes.ts';
import { openRouteSession } from '../routes/open-route-session.ts';
import { type RouteWish, readRouteOptions, routeOptions } from '../routes/options.ts';
import type { Terminal } from '../terminal.ts';
import { KeptSession } from './kept-session.ts';
import { serve } from './serve.ts';

/** Less than the 60 s for which clients of the protocol wait, so that they receive the error. */
const answerMs = 50_000;

export const mcp: Command = {
  words: ['mcp'],
  summary: 'Serve routes as tools of the Model Context Protocol, over standard input and output',
  arguments: [],
  options: {
    ...routeOptions,
    unguarded: {
      type: 'boolean',
      description:
        'also serve routes whose Proxy has no response_guard. The destination of such a route could show the agent a credential',
    },
  },
  notes: `The program of an agent starts this command. The command offers the tools list_routes, call and tokenize.
The agent never has a key. At the first call of the agent, the command creates a session that may call only the routes of
--routes. If the session has ended, the next call creates a new session. The command deletes the session when the agent
disconnects.

The profile needs a public, a private and a management key. The management key needs proxy:read. The private key needs
token:use. For the tool tokenize, the private key also needs token:create. For token:use and token:create, a rule on the
container /agents/ is enough.

A call without an answer ends after 50 s. "Give an agent a key it never sees" in infra/guides shows how to set up this command.`,
  async run(input, terminal) {
    try {
      await serveRoutes(input, terminal);
      terminal.signal.throwIfAborted();
      return undefined;
    } catch (error) {
      // A client ends its server by SIGTERM, and a terminal that closes by SIGHUP: that is no failure.
      if (error instanceof Interrupted && error.code !== exitCodes.interrupted) return undefined;
      throw error;
    }
  },
};

async function serveRoutes(input: Input, terminal: Terminal): Promise<void> {
  const wish = readRouteOptions(input);
  const isUnguarded = input.values.unguarded === true;
  // A client that closes standard error must not end this process before the session is deleted.
  terminal.stderr.on('error', () => undefined);
  const clients = await connectWithAllKeys(terminal, textOf(input, 'profile'));
  const find = async (signal: AbortSignal) => {
    const found = await findRoutes(clients.management, wish.routes, signal);
    if (!isUnguarded) checkGuards(found);
    return found;
  };
  const routes = await find(terminal.signal);
  const session = new KeptSession((signal) => openSession({ clients, wish, find, signal }));
  try {
    await serve({ routes, session, headerPrefix: clients.headerPrefix, answerMs }, terminal, (error) =>
      // Only its name, because it may quote a message, and so a value that the agent wants to tokenize.
      tell(terminal, `A message of the client could not be read, or could not be answered (${error.name})`),
    );
  } finally {
    await endSession(session, terminal);
  }
}

async function endSession(session: KeptSession, terminal: Terminal): Promise<void> {
  try {
    await session.close();
  } catch (error) {
    tell(terminal, 'The session could not be deleted. It ends after the time of --for. Nobody has its key any more.');
    throw error;
  }
}

/** With the Proxies as they are now, because a guard may have been switched off since this began. */
async function openSession({ clients, wish: { routes: _, ...wish }, find, signal: closing }: Opening) {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(answerMs)]);
  return openRouteSession(clients, await find(signal), { ...wish, mayCreate: true, signal });
}

interface Opening {
  clients: ProfileClients;
  wish: RouteWish;
  find: (signal: AbortSignal) => Promise<RouteProxy[]>;
  signal: AbortSignal;
}

function checkGuards(routes: readonly RouteProxy[]): void {
  const unguarded = routes.filter(({ response_guard = 'off' }) => response_guard === 'off');
  if (unguarded.length === 0) return;
  const names = unguarded.map(({ path_name, id }) => `${path_name} (Proxy ${id})`).join(', ');
  throw new UsageError(
    `These routes have no response_guard, so a destination could show the agent a credential: ${names}. Set response_guard with "sluice proxies patch", or allow such routes with --unguarded.`,
  );
}
