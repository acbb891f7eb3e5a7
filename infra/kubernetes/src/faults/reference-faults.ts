import { routes } from '../../../ingress/src/routes.ts';
import { type Manifest, nameOf, ofKind, type Workload, workloadsOf } from '../manifest.ts';
import type { Product } from '../product.ts';
import { selects } from './selects.ts';

/** Faults between manifests: names, labels and ports that refer to nothing. */
export function referenceFaults(manifests: readonly Manifest[], { metrics }: Product): string[] {
  const workloads = workloadsOf(manifests);
  return [
    ...workloads.flatMap((workload) => ownFaults(workload, manifests).map((fault) => `${workload.name}: ${fault}`)),
    ...serviceFaults(manifests, workloads),
    ...budgetFaults(manifests, workloads),
    ...scalerFaults(manifests, workloads, metrics),
    ...ingressFaults(manifests),
    ...policyFaults(manifests, workloads),
  ];
}

function ownFaults({ manifest, labels, pod, name }: Workload, manifests: readonly Manifest[]): string[] {
  const account = ofKind(manifests, 'ServiceAccount').find((one) => nameOf(one) === pod.serviceAccountName);
  const budget = ofKind(manifests, 'PodDisruptionBudget').find((one) => nameOf(one) === name);
  const isDeployment = manifest.kind === 'Deployment';
  return [
    ...(account?.automountServiceAccountToken === false ? [] : ['its ServiceAccount is missing, or has a token']),
    ...(isDeployment && !selects(manifest.spec?.selector ?? {}, labels) ? ['does not select its own pods'] : []),
    ...(isDeployment && !budget ? ['has no PodDisruptionBudget'] : []),
  ];
}

function serviceFaults(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  return ofKind(manifests, 'Service').flatMap((service) => {
    const chosen = workloads.filter(({ labels }) => selects({ matchLabels: service.spec?.selector ?? {} }, labels));
    const [target, ...others] = chosen;
    if (!target || others.length > 0) return [`Service/${nameOf(service)}: selects ${chosen.length} workloads`];
    const ports = (target.container.ports ?? []).flatMap(({ name, containerPort }) => [name, containerPort]);
    return (service.spec?.ports ?? [])
      .filter(({ targetPort, port }) => !ports.includes(targetPort ?? port))
      .map(({ targetPort }) => `Service/${nameOf(service)}: ${target.name} has no port ${targetPort}`);
  });
}

function budgetFaults(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  return ofKind(manifests, 'PodDisruptionBudget').flatMap((budget) => {
    const chosen = workloads.filter(({ labels }) => selects(budget.spec?.selector ?? {}, labels));
    return chosen.length === 1 ? [] : [`PodDisruptionBudget/${nameOf(budget)}: selects ${chosen.length} workloads`];
  });
}

function scalerFaults(
  manifests: readonly Manifest[],
  workloads: readonly Workload[],
  exported: Product['metrics'],
): string[] {
  return ofKind(manifests, 'HorizontalPodAutoscaler').flatMap((scaler) => {
    const { scaleTargetRef, metrics = [], behavior } = scaler.spec ?? {};
    const target = workloads.find(({ manifest, name }) => {
      return name === scaleTargetRef?.name && manifest.kind === scaleTargetRef.kind;
    });
    const named = `HorizontalPodAutoscaler/${nameOf(scaler)}`;
    if (!target) return [`${named}: there is no ${scaleTargetRef?.kind} ${scaleTargetRef?.name}`];
    const unknown = (metrics ?? []).flatMap(({ pods }) =>
      pods && !exported[target.name]?.has(pods.metric.name)
        ? [`${named}: ${target.name} exports no ${pods.metric.name}`]
        : [],
    );
    const replicas = target.manifest.kind === 'Deployment' ? target.manifest.spec?.replicas : undefined;
    return [
      ...unknown,
      ...(metrics?.length ? [] : [`${named}: scales by nothing`]),
      ...(behavior?.scaleDown?.stabilizationWindowSeconds ? [] : [`${named}: scales down at once`]),
      ...(replicas === undefined ? [] : [`${named}: each apply sets ${target.name} back to ${replicas} replicas`]),
    ];
  });
}

/** The path type `Prefix` of Kubernetes compares whole path elements, as our routes do. */
function ingressFaults(manifests: readonly Manifest[]): string[] {
  const services = new Map(ofKind(manifests, 'Service').map((service) => [nameOf(service), service]));
  return ofKind(manifests, 'Ingress').flatMap(({ spec }) =>
    (spec?.rules ?? []).flatMap(({ http }) => {
      const found = (http?.paths ?? []).map(({ path, pathType, backend }) => {
        return `${pathType} ${path} to ${backend.service?.name}`;
      });
      const wanted = routes.map(({ path, service }) => `Prefix ${path || '/'} to ${service}`);
      const missing = wanted.filter((route) => !found.includes(route)).map((route) => `Ingress: lacks ${route}`);
      const added = found.filter((route) => !wanted.includes(route)).map((route) => `Ingress: has ${route}`);
      const dead = (http?.paths ?? [])
        .flatMap(({ backend }) => backend.service ?? [])
        .filter(({ name, port }) => !services.get(name)?.spec?.ports?.some((one) => one.name === port?.name))
        .map(({ name, port }) => `Ingress: the Service ${name} has no port ${port?.name}`);
      return [...missing, ...added, ...new Set(dead)];
    }),
  );
}

/** Policies that select no pod: they protect nothing, or, with a mistyped label, open nothing. */
function policyFaults(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  return ofKind(manifests, 'NetworkPolicy')
    .filter(({ spec }) => !workloads.some(({ labels }) => spec && selects(spec.podSelector, labels)))
    .map((policy) => `NetworkPolicy/${nameOf(policy)}: selects nothing`);
}
