import { BlockList, isIPv6 } from 'node:net';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { environmentOf, type Labels, type Manifest, ofKind, type Workload } from '../manifest.ts';
import { selects } from './selects.ts';

/** Whether a workload may, and must, open connections to public addresses: to any destination, or to issuers. */
function callsOut({ name, container }: Workload): boolean {
  const { OIDC_ISSUERS_FILE: issuers } = environmentOf(container);
  return name === 'proxy-gateway' || (name === 'management-api' && issuers !== undefined);
}

/** One address of each range in which no destination may be. */
const closed = [
  ...['10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '127.0.0.1', '100.64.0.1'],
  ...['fd00::1', 'fe80::1', '::1', 'fd00:ec2::254', '64:ff9b::a9fe:a9fe'],
];
const isPublic = ['8.8.8.8', '2606:4700::1111'];

type Egress = NonNullable<NonNullable<NonNullable<INetworkPolicy['spec']>['egress']>[number]>;
type Peer = NonNullable<NonNullable<Egress['to']>[number]>;

/** Faults in the policies for connections to and from a workload. */
export function networkFaults(workload: Workload, manifests: readonly Manifest[]): string[] {
  const { name, labels } = workload;
  const policies = ofKind(manifests, 'NetworkPolicy').flatMap(({ spec }) =>
    spec && selects(spec.podSelector, labels) ? [spec] : [],
  );
  const open = (['Ingress', 'Egress'] as const)
    .filter((direction) => !policies.some(({ policyTypes }) => policyTypes?.includes(direction)))
    .map((direction) => `no NetworkPolicy restricts its ${direction}`);

  const incoming = policies.flatMap(({ ingress }) => ingress ?? []);
  const outgoing = policies.flatMap(({ egress }) => egress ?? []);
  const unbounded = [
    ...incoming
      .filter(
        ({ from, ports }) => !from?.length || !ports?.length || from.some((peer) => isAnybody(peer) || isWide(peer)),
      )
      .map(() => 'anybody may reach it'),
    ...outgoing.filter(({ to }) => !to?.length || to.some(isAnybody)).map(() => 'it may reach anybody'),
  ];
  const blocks = outgoing.flatMap(({ to, ports }) =>
    (to ?? []).flatMap((peer) => (peer.ipBlock ? [{ peer, ports }] : [])),
  );
  const reaches = (address: string) => blocks.some(({ peer }) => holds(peer, address));
  const world = isPublic.filter(reaches);
  return [
    ...open,
    ...new Set(unbounded),
    ...(callsOut(workload)
      ? isPublic
          .filter((address) => !reaches(address))
          .map((address) => `cannot reach ${address}, as any destination or issuer`)
      : world.map((address) => `may reach ${address}, and so the world`)),
    ...closed
      .filter((address) => blocks.some(({ peer }) => isWide(peer) && holds(peer, address)))
      .map((address) => `may reach ${address}`),
    ...portFaults(name, labels, manifests),
    ...(name !== 'ingress' && incoming.some(({ from }) => from?.some(isController))
      ? ['is reached around the ingress']
      : []),
  ];
}

/**
 * A workload must be reachable at exactly its ports: `http` by the ingress or service in front of it, `admin` by
 * Prometheus.
 */
function portFaults(name: string, labels: Labels, manifests: readonly Manifest[]): string[] {
  const deployment = ofKind(manifests, 'Deployment').find(({ metadata }) => metadata?.name === name);
  const [container] = deployment?.spec?.template.spec?.containers ?? [];
  const ports = (container?.ports ?? []).map(({ name: port }) => port ?? '');
  const opened = ofKind(manifests, 'NetworkPolicy')
    .filter(({ spec }) => spec && selects(spec.podSelector, labels))
    .flatMap(({ spec }) => spec?.ingress ?? [])
    .flatMap(({ ports: given }) => (given ?? []).map(({ port }) => String(port)));
  return [
    ...ports.filter((port) => !opened.includes(port)).map((port) => `its port ${port} is reached by nobody`),
    ...opened.filter((port) => !ports.includes(port)).map((port) => `its port ${port} is opened, and not there`),
  ];
}

/** Whether a peer is all pods of every namespace, or all of ours, so that anyone who may create a pod could connect. */
function isAnybody({ ipBlock, namespaceSelector, podSelector }: Peer): boolean {
  const { matchLabels = {}, matchExpressions = [] } = namespaceSelector ?? podSelector ?? {};
  return !ipBlock && Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

/** Whether a peer is the cluster's ingress controller, which does not filter paths. */
function isController({ podSelector }: Peer): boolean {
  return podSelector?.matchLabels?.['app.kubernetes.io/component'] === 'controller';
}

/** Whether a range is wider than the address of one store. */
function isWide({ ipBlock }: Peer): boolean {
  if (!ipBlock) return false;
  const [address = '', bits] = ipBlock.cidr.split('/');
  return Number(bits) < (isIPv6(address) ? 48 : 16);
}

function holds({ ipBlock }: Peer, address: string): boolean {
  const within = (cidr: string) => {
    const [network = '', bits] = cidr.split('/');
    const type = isIPv6(network) ? 'ipv6' : 'ipv4';
    if (isIPv6(address) !== isIPv6(network)) return false;
    const list = new BlockList();
    list.addSubnet(network, Number(bits), type);
    return list.check(address, type);
  };
  return ipBlock !== undefined && within(ipBlock.cidr) && !ipBlock.except?.some(within);
}
