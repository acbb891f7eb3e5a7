import type { ComposeFile } from './compose-file.ts';

/** The service that calls destinations. */
const caller = 'proxy-gateway';

/** Stores of values and jobs. Only our own services may reach them, and they reach nobody. */
const stores = ['postgres', 'valkey'];

/** Connections that a container can open without needing them. A network that is not internal leads outside. */
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

/** Programs of others that can reach a store. */
function foreigners(store: string, services: ComposeFile['services']): string[] {
  const own = services[store]?.networks ?? [];
  return Object.entries(services)
    .filter(([name, { build, networks = [] }]) => {
      return !build && !stores.includes(name) && networks.some((network) => own.includes(network));
    })
    .map(([name]) => `is reached by ${name}`);
}
