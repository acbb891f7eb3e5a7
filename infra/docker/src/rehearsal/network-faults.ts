import type { ComposeFile } from './compose-file.ts';

/** Who calls destinations. */
const caller = 'proxy-gateway';

/** What has values or commands jobs; nobody but our own services is to reach it, and it reaches nobody. */
const stores = ['postgres', 'valkey'];

/** What a container can reach that it need not: a network that is not internal has a way out. */
export function networkFaults(name: string, { services, networks }: ComposeFile): string[] {
  const { networks: own = [], network_mode, ports = [] } = services[name] ?? {};
  if (network_mode === 'none') return own.length > 0 ? ['is in networks and in none'] : [];
  if (own.length === 0) return ['is in the network of everybody'];
  const waysOut = own.filter((network) => !networks[network]?.internal);
  const beside = (network: string) =>
    Object.keys(services).filter((other) => other !== name && services[other]?.networks?.includes(network));

  if (name === caller) {
    const shared = waysOut.flatMap((network) => beside(network).map((other) => `shares ${network} with ${other}`));
    return waysOut.length > 0 ? shared : ['has no way out to destinations'];
  }
  if (ports.length > 0) return waysOut.length > 0 ? [] : ['publishes a port in internal networks only, where none is'];
  return [
    ...waysOut.map((network) => `has a way out through ${network}`),
    ...(stores.includes(name) ? foreigners(name, services) : []),
  ];
}

/** Those of other people's programs that can reach a store. */
function foreigners(store: string, services: ComposeFile['services']): string[] {
  const own = services[store]?.networks ?? [];
  return Object.entries(services)
    .filter(([name, { build, networks = [] }]) => {
      return !build && !stores.includes(name) && networks.some((network) => own.includes(network));
    })
    .map(([name]) => `is reached by ${name}`);
}
