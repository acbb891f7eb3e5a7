import { randomUUID } from 'node:crypto';
import { eventually } from '@sluice/testing';
import { startTestGateway } from './test-gateway.ts';
import { testRuns } from './test-runs.ts';

export const echo = 'module.exports = async (req) => ({ raw: req.args })';
export const callsOut = 'module.exports = async (req) => ({ raw: (await fetch(req.args.url)).status })';
/** Reads a token before it calls out. */
export const readsThenCalls = `module.exports = async (req) => {
  await req.svc.tokens.retrieve(req.args.token);
  return { raw: (await fetch(req.args.url)).status };
}`;

/** A gateway with four places, of which a Tenant has two, and room for three waiting runs of each. Leases are renewed every 2 s. */
export async function openRunScene(stack: AsyncDisposableStack) {
  const settings = {
    ...{ REACTOR_THREADS: '4', REACTOR_RUNS_WAITING: '3', REACTOR_RUN_LEASE_MS: '6000' },
    TRANSFORM_CONSOLE: 'redacted',
  };
  const gateway = await startTestGateway(stack, settings);
  const runs = testRuns(gateway);
  const { tenant, destination } = gateway;

  const caller = (permissions = ['token:use', 'token:create']) => tenant.application({ permissions });

  /** Resolves when the destination is called at this path, which no other run may call. */
  const untilCalled = (path: string) =>
    eventually(`${path} is called`, () => destination.seen.some(({ url }) => url === path));

  /** Takes all places of the Tenant, while the destination is held. @returns the runs that have them, and have called out. */
  async function occupy(reactorId: string, key: string): Promise<string[]> {
    const paths = [`/${randomUUID()}`, `/${randomUUID()}`];
    const ids: string[] = [];
    for (const path of paths) ids.push(await runs.begin(reactorId, key, { url: destination.url + path }));
    for (const path of paths) await untilCalled(path);
    return ids;
  }

  /** Its answers wait until they are released. */
  function holdDestination() {
    const former = destination.answer;
    const held = Promise.withResolvers<void>();
    destination.answer = (_request, response) => void held.promise.then(() => response.end('{}'));
    const give = () => {
      held.resolve();
      destination.answer = former;
    };
    return { release: held.resolve, [Symbol.dispose]: give };
  }

  return { ...gateway, ...runs, caller, occupy, untilCalled, holdDestination };
}
