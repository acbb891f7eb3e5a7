import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { IJob } from 'kubernetes-models/batch/v1';
import type { IIngress, INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IContainer, INamespace, IPodTemplateSpec, IService, IServiceAccount } from 'kubernetes-models/v1';

export type Manifest =
  | IDeployment
  | IHorizontalPodAutoscaler
  | IIngress
  | IJob
  | INamespace
  | INetworkPolicy
  | IPodDisruptionBudget
  | IService
  | IServiceAccount;

export type Kind = Manifest['kind'];
export type OfKind<K extends Kind> = Extract<Manifest, { kind: K }>;
export type Labels = Readonly<Record<string, string>>;

export function ofKind<K extends Kind>(manifests: readonly Manifest[], kind: K): OfKind<K>[] {
  return manifests.filter((manifest): manifest is OfKind<K> => manifest.kind === kind);
}

export function nameOf(manifest: Manifest): string {
  return manifest.metadata?.name ?? '';
}

/** A Deployment, Job or other manifest that runs pods. */
export interface Workload {
  manifest: IDeployment | IJob;
  name: string;
  template: IPodTemplateSpec;
  labels: Labels;
  pod: NonNullable<IPodTemplateSpec['spec']>;
  /** Each of our pods has exactly one. */
  container: IContainer;
}

/** @throws {Error} if a pod does not have exactly one container. */
export function workloadsOf(manifests: readonly Manifest[]): Workload[] {
  return [...ofKind(manifests, 'Deployment'), ...ofKind(manifests, 'Job')].map((manifest) => {
    const template = manifest.spec?.template ?? {};
    const { spec: pod, metadata } = template;
    const [container, ...others] = pod?.containers ?? [];
    if (!pod || !container || others.length > 0) throw new Error(`${nameOf(manifest)} has not one container`);
    return { manifest, name: nameOf(manifest), template, labels: metadata?.labels ?? {}, pod, container };
  });
}

/** The variables with literal values. */
export function environmentOf({ env = [] }: IContainer): Record<string, string> {
  return Object.fromEntries((env ?? []).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}
