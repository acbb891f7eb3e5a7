import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigSchema } from '@sluice/service-runtime';
import { type ComposeFile, type ComposeService, mountsOf, repositoryRoot } from './compose-file.ts';
import { settingFaults } from './setting-faults.ts';

/** Whether a service calls out: to destinations, or to issuers. */
function callsOut(name: string, { environment = {} }: ComposeService): boolean {
  return name === 'proxy-gateway' || (name === 'management-api' && 'OIDC_ISSUERS_FILE' in environment);
}

/** Stores of values and jobs. Only our own services may reach them, and they reach nobody. */
const stores = ['postgres', 'valkey'];

/** Connections that a container can open but does not need. A network that is not internal leads outside. */
function networkFaults(name: string, { services, networks }: ComposeFile): string[] {
  const { networks: own = [], network_mode, ports = [] } = services[name] ?? {};
  if (network_mode === 'none') return own.length > 0 ? ['is in networks and in none'] : [];
  if (own.length === 0) return ['is in the network of everybody'];
  const waysOut = own.filter((network) => !networks[network]?.internal);
  const beside = (network: string) =>
    Object.keys(services).filter((other) => other !== name && services[other]?.networks?.includes(network));

  if (callsOut(name, services[name] ?? {})) {
    const shared = waysOut.flatMap((network) => beside(network).map((other) => `shares ${network} with ${other}`));
    return waysOut.length > 0 ? shared : ['has no way out to destinations or issuers'];
  }
  if (ports.length > 0) return waysOut.length > 0 ? [] : ['publishes a port in internal networks only, where none is'];
  return [
    ...waysOut.map((network) => `has a way out through ${network}`),
    ...(stores.includes(name) ? foreigners(name, services) : []),
  ];
}

/** Other programs that can reach a store. */
function foreigners(store: string, services: ComposeFile['services']): string[] {
  const own = services[store]?.networks ?? [];
  return Object.entries(services)
    .filter(([name, { build, networks = [] }]) => {
      return !build && !stores.includes(name) && networks.some((network) => own.includes(network));
    })
    .map(([name]) => `is reached by ${name}`);
}

/** Configuration schemas by service name, of all services whose image is ours. */
export type Schemas = Readonly<Record<string, ConfigSchema>>;

/** Services that may be reached from outside. */
const published = ['ingress', 'grafana'];

const conditions = ['service_started', 'service_healthy', 'service_completed_successfully'];

/** The faults of the file, one line each. */
export function composeFaults(compose: ComposeFile, schemas: Schemas): string[] {
  return Object.entries(compose.services).flatMap(([name, service]) =>
    [
      ...(service.build ? settingFaults(service.environment ?? {}, schemas[name]) : []),
      ...commandFaults(service),
      ...stopFaults(service, schemas[name]),
      ...dependencyFaults(service, compose),
      ...mountFaults(service, compose),
      ...scaleFaults(name, service),
      ...hardeningFaults(service),
      ...networkFaults(name, compose),
    ].map((fault) => `${name}: ${fault}`),
  );
}

function commandFaults({ build, entrypoint = [], command = [] }: ComposeService): string[] {
  if (!build) return [];
  const folder = join(repositoryRoot, build.args.WORKSPACE);
  const given = [...entrypoint, ...command];
  const files = (given.length > 0 ? given : ['src/main.ts']).filter((word) => word.endsWith('.ts'));
  return [join(repositoryRoot, build.dockerfile), ...files.map((file) => join(folder, file))]
    .filter((file) => !existsSync(file))
    .map((file) => `${file} does not exist`);
}

/** Checks the grace period, after which Docker kills a container that has not stopped. */
function stopFaults({ environment = {}, stop_grace_period = '10s' }: ComposeService, schema?: ConfigSchema): string[] {
  const millisecondsOf = (setting: string) => Number(environment[setting] ?? schema?.properties[setting]?.default ?? 0);
  const needed = millisecondsOf('SHUTDOWN_DRAIN_MS') + millisecondsOf('SHUTDOWN_TIMEOUT_MS');
  return Number.parseInt(stop_grace_period, 10) * 1000 < needed
    ? [`is killed after ${stop_grace_period}, though a stop may take ${needed} ms`]
    : [];
}

function dependencyFaults(service: ComposeService, { services }: ComposeFile): string[] {
  return Object.entries(service.depends_on ?? {}).flatMap(([name, { condition }]) => {
    const dependency = services[name];
    if (!dependency) return [`depends on ${name}, which is not a service`];
    if (!conditions.includes(condition)) return [`${condition} is not a condition`];
    const unhealthy = condition === 'service_healthy' && !dependency.healthcheck;
    return unhealthy ? [`waits for the health of ${name}, which has no health check`] : [];
  });
}

function mountFaults(service: ComposeService, compose: ComposeFile): string[] {
  const { networks = [], environment = {}, secrets = [] } = service;
  const ofSecrets = secrets.map((name) => ({ source: undefined, target: `/run/secrets/${name}`, readOnly: true }));
  const mounts = [...mountsOf(service), ...ofSecrets];
  const sources = mounts.flatMap(({ source }) => source ?? []);
  const folders = sources.filter((source) => source.startsWith('./'));
  const undeclared = [
    ...sources.filter((source) => !source.startsWith('./') && !(source in compose.volumes)),
    ...networks.filter((network) => !(network in compose.networks)),
    ...secrets.filter((secret) => !(secret in (compose.secrets ?? {}))),
  ].map((name) => `${name} is not declared`);
  const unreachable = Object.entries(environment)
    .filter(
      ([variable, path]) =>
        /_(FILE|DIRECTORY)$/.test(variable) && !mounts.some(({ target }) => `${path}/`.startsWith(`${target}/`)),
    )
    .map(([variable]) => `${variable} is in no volume`);
  const spool = mounts.find(({ target }) => target === environment.DISCLOSURE_SPOOL_DIRECTORY);
  return [
    ...undeclared,
    ...unreachable,
    ...folders.filter((path) => !existsSync(join(repositoryRoot, path))).map((path) => `${path} does not exist`),
    ...mounts
      .filter(({ source, readOnly }) => source?.startsWith('./') && !readOnly)
      .map(({ source }) => `writes to ${source}`),
    ...(spool?.source ? [`its replicas share ${spool.source}, in which each needs a folder of its own`] : []),
  ];
}

function scaleFaults(name: string, { container_name, ports = [] }: ComposeService): string[] {
  return [
    ...(container_name ? ['has a container name, so that it cannot be scaled'] : []),
    ...(!published.includes(name) && ports.length > 0 ? ['publishes a port'] : []),
    ...ports.filter((port) => !port.startsWith('127.0.0.1:')).map((port) => `${port} is open to the network`),
  ];
}

/** Rights and resources that a container has without needing them. */
function hardeningFaults(service: ComposeService): string[] {
  const { build, image = '', healthcheck, restart, user = '' } = service;
  const isStep = restart === 'no';
  const bounds: Record<string, boolean> = {
    'writes to its root file system': service.read_only === true,
    'keeps capabilities': service.cap_drop?.includes('ALL') === true && !service.cap_add?.length,
    'may gain privileges': service.security_opt?.includes('no-new-privileges:true') === true && !service.privileged,
    'has no limit of processes': Number(service.pids_limit) > 0,
    'has no limit of memory': /^\d+[mg]$/.test(service.mem_limit ?? ''),
    'may be swapped out': service.memswap_limit === service.mem_limit,
    'may leave core dumps': service.ulimits?.core === 0,
    'has no health check': isStep || (healthcheck?.test.length ?? 0) > 1,
    // For our own images the Dockerfile names the user.
    'may run as root': Boolean(build) || !/^(|0|root)(:|$)/.test(user),
  };
  const floating = !build && !/:v?\d+\.\d+/.test(image) ? [`${image} is not pinned to a version`] : [];
  return [...Object.entries(bounds).flatMap(([fault, holds]) => (holds ? [] : [fault])), ...floating];
}
