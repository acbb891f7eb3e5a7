import { readFile } from 'node:fs/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Stack } from '@sluice/local';
import type { BenchmarkContext } from '../benchmark.ts';
import { createCertificate } from '../destination/certificate.ts';
import { answerBody, startDestination } from '../destination/destination.ts';
import { startEcho } from '../destination/echo.ts';
import { findLoadGenerator } from '../load/find-load-generator.ts';
import type { LoadGenerator } from '../load/load-generator.ts';
import { type PeerName, peerNames, startPeer } from '../peers/peer.ts';
import { startBenchmarkStack } from '../start-benchmark-stack.ts';
import { checkAnswer, checkLoad, checkReceived, type Path } from './check.ts';
import { createTenant, type Tenant } from './tenant.ts';

/** What is sent through the gateway, and what the destination should receive. */
export interface Workload {
  /** Members of the Proxy besides its destination. */
  proxy?: object;
  /** Whether the gateway's other threads may use both cores. */
  threadsOnBothCores?: boolean;
  prepare(tenant: Tenant): Promise<{ sent: object; received: object }>;
}

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
  stack: Stack;
  direct: Path;
  ours: Path;
  /** In the order of their names. */
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
  const certificate = isSecure ? await createCertificate(context) : undefined;
  const caFile = certificate?.certificate;
  if (caFile !== undefined) await trust(caFile, opened);
  const echo = opened.use(await startEcho(certificate));
  const destinationUrl = `${isSecure ? 'https' : 'http'}://127.0.0.1:${echo.port}`;

  const environment = caFile === undefined ? {} : { DESTINATION_CA_FILE: caFile };
  const stack = await startBenchmarkStack('proxy-gateway', { ...context, environment }, opened);
  if (workload.threadsOnBothCores) await context.cores.spreadThreads(stack.processes.get('proxy-gateway')?.pid);

  const tenant = await createTenant(stack, signal);
  const { sent, received } = await workload.prepare(tenant);
  const body = JSON.stringify(sent);
  const headers = {
    'Content-Type': 'application/json',
    'SVC-API-KEY': tenant.apiKey,
    'SVC-PROXY-KEY': await tenant.createProxy(destinationUrl, workload.proxy),
  };
  const path = (name: string, origin: string, pid?: number): Path => {
    return { name, pid, request: { url: `${origin}/proxy`, headers, body } };
  };

  const direct = path('destination directly', destinationUrl);
  await checkLoad(load, direct, echo, signal);
  const ours = path('sluice', stack.serviceUrls.proxyGateway, stack.processes.get('proxy-gateway')?.pid);
  await checkReceived(ours, received, signal);
  const peers: Path[] = [];
  for (const name of wanted) {
    const options = { destinationUrl, directory: context.directory, caFile, signal };
    const { pid, url } = opened.use(await startPeer(name, options));
    await context.cores.moveToTestedCore(pid);
    peers.push(path(peerNames[name], url, pid));
  }
  for (const peer of peers) await checkReceived(peer, sent, signal);

  await echo[Symbol.asyncDispose]();
  const destination = opened.use(await startDestination(context, { port: echo.port, certificate }));
  for (const each of [direct, ours, ...peers]) await checkAnswer(each, answerBody, signal);
  const notes = [`load generator: ${load.name}; destination: ${destination.name}`];
  return { load, stack, direct, ours, peers, notes };
}

/** Lets this process trust the destination too. */
async function trust(caFile: string, opened: AsyncDisposableStack): Promise<void> {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, await readFile(caFile, 'utf8')]);
  opened.defer(() => setDefaultCACertificates(before));
}
