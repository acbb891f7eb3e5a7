import type { BenchmarkContext, Outcome } from '../benchmark.ts';
import { startLookUp } from '../management/measure-look-up.ts';
import type { MeasuredProcess } from '../peers/measured-process.ts';
import { startCreation } from '../tokens/measure-creation.ts';
import { type BusyProcess, measureMainThreads } from './measure-main-threads.ts';

type Started = Awaited<ReturnType<typeof startCreation | typeof startLookUp>>;

/** Compares the vault with the bare INSERT. */
export async function measureCreationCpu(context: BenchmarkContext): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const started = await startCreation(context, opened);
  return await measureBeside(context, started, [busyPeer('INSERT over pg', started.peer)]);
}

/** Compares the management API with the bare SELECT. */
export async function measureLookUpCpu(context: BenchmarkContext): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const started = await startLookUp(context, opened);
  const peers = started.peers.map(({ name, peer }) => busyPeer(name, peer));
  return await measureBeside(context, started, peers);
}

async function measureBeside(
  context: BenchmarkContext,
  { load, request, pid }: Started,
  peers: BusyProcess[],
): Promise<Outcome> {
  const run = async (seconds: number) => {
    const { requestsPerSecond, errors } = await load.run(request, seconds, context.signal);
    return { count: requestsPerSecond * seconds, errors };
  };
  return { ...(await measureMainThreads(context, [{ name: 'sluice', pid, run }, ...peers])), paths: [] };
}

function busyPeer(name: string, { pid, measure }: MeasuredProcess): BusyProcess {
  const run = async (seconds: number) => ({ count: (await measure(seconds)) * seconds, errors: 0 });
  return { name, pid, run };
}
