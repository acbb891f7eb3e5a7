import { type Manifest, nameOf, ofKind, type Workload, workloadsOf } from '../manifest.ts';
import type { Product } from '../product.ts';
import { hostFaults } from './host-faults.ts';
import { selects } from './selects.ts';

/** Faults between manifests: names, labels and ports that refer to nothing. */
export function referenceFaults(manifests: readonly Manifest[], { metrics, schemas }: Product): string[] {
  const workloads = workloadsOf(manifests);
  return [
    ...workloads.flatMap((workload) => ownFaults(workload, manifests).map((fault) => `${workload.name}: ${fault}`)),
    ...serviceFaults(manifests, workloads),
    ...budgetFaults(manifests, workloads),
    ...scalerFaults(manifests, workloads, metrics),
    ...hostFaults(manifests, schemas),
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

/** Policies that select no pod: they protect nothing, or, with a mistyped label, open nothing. */
function policyFaults(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  return ofKind(manifests, 'NetworkPolicy')
    .filter(({ spec }) => !workloads.some(({ labels }) => spec && selects(spec.podSelector, labels)))
    .map((policy) => `NetworkPolicy/${nameOf(policy)}: selects nothing`);
}
