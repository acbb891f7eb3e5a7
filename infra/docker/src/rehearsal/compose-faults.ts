import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigSchema } from '@sluice/service-runtime';
import { type ComposeFile, type ComposeService, repositoryRoot } from './compose-file.ts';

/** Configuration schemas by service name, of all services whose image is ours. */
export type Schemas = Readonly<Record<string, ConfigSchema>>;

const conditions = ['service_started', 'service_healthy', 'service_completed_successfully'];

/** What is wrong with the file, one line for each fault. */
export function composeFaults(compose: ComposeFile, schemas: Schemas): string[] {
  return Object.entries(compose.services).flatMap(([name, service]) =>
    [
      ...(service.build ? settingFaults(service, schemas[name]) : []),
      ...commandFaults(service),
      ...dependencyFaults(service, compose),
      ...mountFaults(service, compose),
      ...scaleFaults(name, service),
    ].map((fault) => `${name}: ${fault}`),
  );
}

function settingFaults({ environment = {} }: ComposeService, schema: ConfigSchema | undefined): string[] {
  if (!schema) return ['has no configuration schema'];
  const given = Object.keys(environment).map((variable) => ({ variable, setting: settingOf(variable, schema) }));
  const unknown = given
    .filter(({ setting }) => setting === undefined)
    .map(({ variable }) => `${variable} is not a setting`);
  const open = given
    .filter(({ variable, setting }) => setting === variable && schema.properties[variable]?.writeOnly)
    .map(({ variable }) => `${variable} is a secret, give ${variable}_FILE`);
  const settings = new Set(given.map(({ setting }) => setting));
  const missing = requiredOf(schema, environment)
    .filter((setting) => !settings.has(setting))
    .map((setting) => `${setting} is missing`);
  return [...unknown, ...open, ...missing];
}

/** What must be given with this environment: some settings are required only where another has a certain value. */
function requiredOf({ required = [], allOf = [] }: ConfigSchema, environment: Record<string, string>): string[] {
  const conditional = allOf.flatMap((condition) => {
    const holds = Object.entries(condition.if.properties).every(([name, value]) => environment[name] === value.const);
    return (holds ? condition.then : condition.else)?.required ?? [];
  });
  return [...required, ...conditional];
}

/** The setting that a variable gives, itself or as the name of a file. */
function settingOf(variable: string, { properties }: ConfigSchema): string | undefined {
  if (variable in properties) return variable;
  const setting = variable.replace(/_FILE$/, '');
  return setting !== variable && properties[setting]?.writeOnly ? setting : undefined;
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

function dependencyFaults(service: ComposeService, { services }: ComposeFile): string[] {
  return Object.entries(service.depends_on ?? {}).flatMap(([name, { condition }]) => {
    const dependency = services[name];
    if (!dependency) return [`depends on ${name}, which is not a service`];
    if (!conditions.includes(condition)) return [`${condition} is not a condition`];
    const unhealthy = condition === 'service_healthy' && !dependency.healthcheck;
    return unhealthy ? [`waits for the health of ${name}, which has no health check`] : [];
  });
}

function mountFaults(
  { volumes = [], networks = [], environment = {} }: ComposeService,
  compose: ComposeFile,
): string[] {
  const mounts = volumes.map((volume) => volume.split(':'));
  const undeclared = [
    ...mounts.map(([source = '']) => source).filter((source) => !(source in compose.volumes)),
    ...networks.filter((network) => !(network in compose.networks)),
  ].map((name) => `${name} is not declared`);
  const unreachable = Object.entries(environment)
    .filter(([variable, path]) => variable.endsWith('_FILE') && !mounts.some(([, to]) => path.startsWith(`${to}/`)))
    .map(([variable]) => `${variable} is in no volume`);
  return [...undeclared, ...unreachable];
}

function scaleFaults(name: string, { container_name, ports = [] }: ComposeService): string[] {
  return [
    ...(container_name ? ['has a container name, so that it cannot be scaled'] : []),
    ...(name !== 'ingress' && ports.length > 0 ? ['publishes a port'] : []),
    ...ports.filter((port) => !port.startsWith('127.0.0.1:')).map((port) => `${port} is open to the network`),
  ];
}
