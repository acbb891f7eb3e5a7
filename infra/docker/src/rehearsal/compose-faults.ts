import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigSchema } from '@sluice/service-runtime';
import { type ComposeFile, type ComposeService, mountsOf, repositoryRoot } from './compose-file.ts';
import { hardeningFaults } from './hardening-faults.ts';
import { networkFaults } from './network-faults.ts';
import { settingFaults } from './setting-faults.ts';

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
  const { networks = [], environment = {} } = service;
  const mounts = mountsOf(service);
  const sources = mounts.flatMap(({ source }) => source ?? []);
  const folders = sources.filter((source) => source.startsWith('./'));
  const undeclared = [
    ...sources.filter((source) => !source.startsWith('./') && !(source in compose.volumes)),
    ...networks.filter((network) => !(network in compose.networks)),
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
