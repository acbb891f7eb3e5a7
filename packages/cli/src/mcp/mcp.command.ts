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
      description: 'also serve routes whose Proxy has no response_guard; a destination could then show a credential',
    },
  },
  notes: `An agent's program starts this command. Its tools: list_routes, call, tokenize. The agent never has a key: at its first call this makes a
session that may call these routes only, makes another when it has ended, and deletes it at the end.
It needs a profile with a public, a private and a management key (proxy:read). The private Application needs token:use, and token:create for
tokenize, also on /agents/.`,
  async run(input, terminal) {
    try {
      await serveRoutes(input, terminal);
      terminal.signal.throwIfAborted();
      return undefined;
    } catch (error) {
      // A client ends its server by SIGTERM: that is no failure.
      if (error instanceof Interrupted && error.code === exitCodes.terminated) return undefined;
      throw error;
    }
  },
};

async function serveRoutes(input: Input, terminal: Terminal): Promise<void> {
  const wish = readRouteOptions(input);
  const isUnguarded = input.values.unguarded === true;
  const clients = await connectWithAllKeys(terminal, textOf(input, 'profile'));
  const find = async (signal: AbortSignal) => {
    const found = await findRoutes(clients.management, wish.routes, signal);
    if (!isUnguarded) checkGuards(found);
    return found;
  };
  const routes = await find(terminal.signal);
  const session = new KeptSession(() => openSession(clients, wish, find));
  try {
    await serve({ routes, session, headerPrefix: clients.headerPrefix, answerMs }, terminal, (error) =>
      tell(terminal, error.message),
    );
  } finally {
    await endSession(session, terminal);
  }
}

async function endSession(session: KeptSession, terminal: Terminal): Promise<void> {
  try {
    await session.close();
  } catch (error) {
    tell(terminal, 'The session could not be deleted. Nobody has its key any more; it ends after the time of --for.');
    throw error;
  }
}

/** With the Proxies as they are now, because a guard may have been switched off since this began. */
async function openSession(
  clients: ProfileClients,
  { routes: _, ...wish }: RouteWish,
  find: (signal: AbortSignal) => Promise<RouteProxy[]>,
) {
  const signal = AbortSignal.timeout(answerMs);
  return openRouteSession(clients, await find(signal), { ...wish, mayCreate: true, signal });
}

function checkGuards(routes: readonly RouteProxy[]): void {
  const unguarded = routes.filter(({ response_guard = 'off' }) => response_guard === 'off');
  if (unguarded.length === 0) return;
  const names = unguarded.map(({ path_name, id }) => `${path_name} (Proxy ${id})`).join(', ');
  throw new UsageError(
    `Without a response_guard a destination could show the agent a credential: ${names}. Set it with "sluice proxies patch", or allow this with --unguarded.`,
  );
}
