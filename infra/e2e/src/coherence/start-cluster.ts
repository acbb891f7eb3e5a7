import type { ServiceName } from '@sluice/local/parts';
import { type Node, startNode } from '../cluster/node.ts';
import { type Site, type SiteOptions, startSite } from '../cluster/site.ts';

/** Two writers, four processes that cache, and the worker, which confirms what writers left behind. */
export interface Cluster {
  site: Site;
  writers: readonly Node[];
  holders: readonly Node[];
}

const processes: readonly [name: string, service: ServiceName][] = [
  ['management-1', 'management-api'],
  ['management-2', 'management-api'],
  ['gateway-1', 'proxy-gateway'],
  ['gateway-2', 'proxy-gateway'],
  ['gateway-3', 'proxy-gateway'],
  ['vault-1', 'token-vault'],
  ['worker-1', 'worker'],
];

export async function startCluster(
  options: SiteOptions & { seed: number },
  stack: AsyncDisposableStack,
): Promise<Cluster> {
  const site = await startSite(options, stack);
  const nodes = await Promise.all(
    processes.map(([name, service], index) =>
      startNode(site, { name, service, seed: options.seed + 10 * index }, stack),
    ),
  );
  return {
    site,
    writers: nodes.filter(({ service }) => service === 'management-api'),
    holders: nodes.filter(({ service }) => service === 'proxy-gateway' || service === 'token-vault'),
  };
}
