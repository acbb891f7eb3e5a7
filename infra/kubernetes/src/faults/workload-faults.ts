import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@sluice/local/parts';
import { checkTimeoutMs } from '@sluice/service-runtime';
import { environmentOf, type Workload } from '../manifest.ts';
import type { Product } from '../product.ts';

/** Faults in how the pods of a workload run. */
export function workloadFaults(workload: Workload, product: Product): string[] {
  return [
    ...imageFaults(workload, product),
    ...hardeningFaults(workload),
    ...resourceFaults(workload),
    ...(workload.manifest.kind === 'Deployment' ? [...probeFaults(workload), ...lifeFaults(workload, product)] : []),
  ];
}

function imageFaults({ container }: Workload, { images }: Product): string[] {
  const { image = '', command = [] } = container;
  const [, name = '', tag] = /([^/:@]+)(?:[:@]([^/]+))?$/.exec(image) ?? [];
  const workspace = images[name];
  if (!workspace) return [`${image} is no image of ours`];
  const programs = ['src/main.ts', ...(command ?? [])].filter((word) => word.endsWith('.ts'));
  return [
    ...(!tag || tag === 'latest' ? [`${image} names no version`] : []),
    ...programs
      .filter((program) => !existsSync(join(repositoryRoot, workspace, program)))
      .map((program) => `${program} is not in ${workspace}`),
  ];
}

function hardeningFaults({ pod, container }: Workload): string[] {
  const { securityContext: ofPod } = pod;
  const { securityContext: own } = container;
  const wanted: Record<string, boolean> = {
    'may run as root': ofPod?.runAsNonRoot === true && Number(ofPod.runAsUser) > 0,
    'has no seccomp profile': ofPod?.seccompProfile?.type === 'RuntimeDefault',
    'may gain privileges': own?.allowPrivilegeEscalation === false && own.privileged !== true,
    'writes to its root file system': own?.readOnlyRootFilesystem === true,
    'keeps capabilities': own?.capabilities?.drop?.includes('ALL') === true && !own.capabilities.add?.length,
    'gets a token of the cluster': pod.automountServiceAccountToken === false,
    'is told of Services by variables': pod.enableServiceLinks === false,
    'shares a namespace of the node': !(pod.hostNetwork || pod.hostPID || pod.hostIPC),
    'mounts a folder of the node': !pod.volumes?.some(({ hostPath }) => hostPath),
    'opens a port of the node': !container.ports?.some(({ hostPort }) => hostPort),
  };
  return Object.entries(wanted).flatMap(([fault, holds]) => (holds ? [] : [fault]));
}

function resourceFaults({ name, container }: Workload): string[] {
  const { requests, limits } = container.resources ?? {};
  return [
    ...(['cpu', 'memory'] as const)
      .filter((resource) => requests?.[resource] === undefined)
      .map((resource) => `requests no ${resource}`),
    ...(limits?.memory === undefined ? ['has no limit of memory'] : []),
    ...(name === 'proxy-gateway' && limits?.cpu !== undefined ? ['is throttled by a limit of CPU'] : []),
  ];
}

/** How late a busy process may answer after its checks and still stay in its Service. */
const leastPatienceMs = 2000;

const probes = { startupProbe: '/livez', livenessProbe: '/livez', readinessProbe: '/readyz' } as const;

function probeFaults({ container }: Workload): string[] {
  const environment = environmentOf(container);
  const ports = container.ports ?? [];
  const admin = ports.find(({ name }) => name === 'admin');
  const http = ports.find(({ name }) => name === 'http');
  const asked = Object.entries(probes)
    .filter(([probe, path]) => {
      const { httpGet } = container[probe as keyof typeof probes] ?? {};
      return httpGet?.path !== path || (httpGet.port !== 'admin' && httpGet.port !== admin?.containerPort);
    })
    .map(([probe, path]) => `${probe} does not ask ${path} at the admin port`);
  const patience = 1000 * (container.readinessProbe?.timeoutSeconds ?? 1) - checkTimeoutMs;
  return [
    ...asked,
    ...(patience < leastPatienceMs ? [`readinessProbe gives up ${patience} ms after the check does`] : []),
    ...(environment.ADMIN_PORT !== String(admin?.containerPort) ? ['ADMIN_PORT is not the admin port'] : []),
    ...(environment.ADMIN_HOST !== '0.0.0.0' ? ['ADMIN_HOST keeps probes out'] : []),
    ...(http && environment.PORT !== String(http.containerPort) ? ['PORT is not the http port'] : []),
  ];
}

function lifeFaults({ name, pod, container, labels }: Workload, { schemas }: Product): string[] {
  const environment = environmentOf(container);
  const millisecondsOf = (setting: string) =>
    Number(environment[setting] ?? schemas[name]?.properties[setting]?.default ?? 0);
  const needed = millisecondsOf('SHUTDOWN_DRAIN_MS') + millisecondsOf('SHUTDOWN_TIMEOUT_MS');
  const given = (pod.terminationGracePeriodSeconds ?? 30) * 1000;
  const spreads = (pod.topologySpreadConstraints ?? []).filter(({ labelSelector }) =>
    Object.entries(labelSelector?.matchLabels ?? { '': '' }).every(([label, value]) => labels[label] === value),
  );
  return [
    ...(given < needed ? [`is killed after ${given} ms, though a stop may take ${needed}`] : []),
    ...['kubernetes.io/hostname', 'topology.kubernetes.io/zone']
      .filter((key) => !spreads.some(({ topologyKey }) => topologyKey === key))
      .map((key) => `is not spread by ${key}`),
  ];
}
