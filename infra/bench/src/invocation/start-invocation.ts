import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { BenchmarkContext } from '../benchmark.ts';
import { answerBody, startDestination } from '../destination/destination.ts';
import { startEcho, writeCertificate } from '../destination/echo.ts';
import type { LoadGenerator } from '../load/load-generator.ts';
import { findLoadGenerator } from '../load/wrk.ts';
import { peers as bareProxies, type PeerName, startPeer } from '../peers/peer.ts';
import { startGateway } from '../stack/more-gateways.ts';
import { type BenchmarkStack, startBenchmarkStack } from '../stack/start-benchmark-stack.ts';
import { createTenant } from '../stack/tenant.ts';
import { checkAnswer, checkHead, checkLoad, checkReceived, type Path } from './check.ts';
import type { Workload } from './workloads.ts';

export interface InvocationOptions {
  workload: Workload;
  /** The bare proxies that run beside the gateway. */
  peerNames: readonly PeerName[];
  /** Whether the destination speaks TLS. */
  isSecure?: boolean;
}

/** Working ways to the destination, each checked with one request. */
export interface Invocation {
  load: LoadGenerator;
  stack: BenchmarkStack;
  direct: Path;
  ours: Path;
  /** Through the same Proxy, by its route. */
  byRoute: Path;
  /** Through a Proxy that has no response guard and is otherwise the same. */
  unguarded: Path;
  /** As `peerNames`. */
  peers: Path[];
  notes: string[];
}

/**
 * Starts the services, the peers and the destination; they end with `opened`. An echo first takes the destination's
 * place, to check what each path delivers.
 */
export async function startInvocation(
  context: BenchmarkContext,
  { workload, peerNames: wanted, isSecure = false }: InvocationOptions,
  opened: AsyncDisposableStack,
): Promise<Invocation> {
  const { signal } = context;
  const load = await findLoadGenerator(context);
  const certificate = isSecure ? await writeCertificate(context) : undefined;
  const caFile = certificate?.certificate;
  if (certificate) trust(certificate.options.cert, opened);
  const echo = opened.use(await startEcho(certificate));
  const destinationUrl = echo.url;

  const settings = caFile === undefined ? {} : { DESTINATION_CA_FILE: caFile };
  const stack = await startBenchmarkStack('proxy-gateway', context, opened, settings);
  if (workload.threadsOnBothCores) await context.cores.spreadThreads(stack.pid);

  const tenant = await createTenant(stack, signal);
  const { sent, received, returned = received, proxy, path: behind = '', head = {} } = await workload.prepare(tenant);
  const body = JSON.stringify(sent);
  const members = { ...workload.proxy, ...proxy };
  const onRoute = { 'Content-Type': 'application/json', 'SVC-API-KEY': tenant.apiKey };
  const withKey = async (more: object) => {
    return { ...onRoute, 'SVC-PROXY-KEY': await tenant.createProxy(destinationUrl, { ...members, ...more }) };
  };
  const headers: Record<string, string> = await withKey({ path_name: routeName });
  const path = (name: string, origin: string, pid = 0, { route = '/proxy', headers: own = headers } = {}): Path => {
    const request = { url: `${origin}${route}${behind}`, headers: own, body };
    return { name, pid, request, measure: (seconds) => load.run(request, seconds, signal) };
  };

  const direct = path('destination directly', destinationUrl);
  await checkLoad(load, direct, echo, signal);
  const ours = path('sluice', stack.serviceUrls.proxyGateway, stack.pid);
  await checkReceived(ours, returned, signal);
  checkHead(echo, head);
  const route = { route: `/routes/${routeName}`, headers: onRoute };
  const byRoute = path('sluice by route', stack.serviceUrls.proxyGateway, stack.pid, route);
  await checkReceived(byRoute, returned, signal);
  const off = { headers: await withKey({ response_guard: 'off' }) };
  const unguarded = path('without a guard', stack.serviceUrls.proxyGateway, stack.pid, off);
  await checkReceived(unguarded, received, signal);
  const peers: Path[] = [];
  for (const name of wanted) {
    const options = { destinationUrl, directory: context.directory, caFile, signal };
    const { pid, url } = opened.use(await startPeer(name, options));
    await context.cores.moveToTestedCore(pid);
    peers.push(path(bareProxies[name].name, url, pid));
  }
  for (const peer of peers) await checkReceived(peer, sent, signal);
  const other = await startOther(context, stack, opened);
  if (other) {
    const beside = path('gateway of the other checkout', other.url, other.pid);
    await checkReceived(beside, returned, signal);
    peers.push(beside);
  }

  await echo[Symbol.asyncDispose]();
  const destination = await startDestination(context, { port: echo.port, certificate }, opened);
  for (const each of [direct, ours, byRoute, unguarded, ...peers]) await checkAnswer(each, answerBody, signal);
  const notes = [`load generator: ${load.name}; destination: ${destination}`];
  return { load, stack, direct, ours, byRoute, unguarded, peers, notes };
}

/** The gateway of another checkout, on the same core and stores. */
async function startOther(context: BenchmarkContext, stack: BenchmarkStack, opened: AsyncDisposableStack) {
  const { besideCheckout, cores } = context;
  if (besideCheckout === undefined) return undefined;
  const gateway = await startGateway(context, stack, opened, besideCheckout);
  await cores.moveToTestedCore(gateway.pid);
  return gateway;
}

const routeName = 'benchmark';

/** Lets this process trust the destination too. */
function trust(authority: string, opened: AsyncDisposableStack): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, authority]);
  opened.defer(() => setDefaultCACertificates(before));
}
