import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { type Manifest, nameOf } from './manifest.ts';

/** Their `validate` is Kubernetes' own schema, compiled. It throws if a manifest violates it. */
const models = [
  ...[Deployment, HorizontalPodAutoscaler, Ingress, Job, Namespace],
  ...[NetworkPolicy, PodDisruptionBudget, Service, ServiceAccount],
];

/** Violations of Kubernetes' schemas, and unknown fields, which the schemas would accept. */
export function schemaFaults(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap((manifest) => {
    const { apiVersion, kind } = manifest;
    const model = models.find((one) => one.kind === kind && one.apiVersion === apiVersion);
    const found = model ? faultsBy(model.prototype.validate, manifest) : [`there is no ${kind} in ${apiVersion}`];
    return found.map((fault) => `${kind}/${nameOf(manifest)}: ${fault}`);
  });
}

/** The compiled schemas read every field that they know, so a field that was not read is unknown. */
function faultsBy(validate: (this: unknown) => void, manifest: Manifest): string[] {
  const read = new Set<string>();
  try {
    validate.call(recordReads(manifest, read));
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  return pathsOf(manifest)
    .filter((path) => !read.has(path))
    .map((path) => `${path} is unknown`);
}

function recordReads(value: unknown, read: Set<string>, path = ''): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = new Map<string, unknown>();
  return new Proxy(value, {
    get(target, key) {
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return Reflect.get(target, key);
      const below = `${path}/${key}`;
      if (!inner.has(key)) inner.set(key, recordReads(Reflect.get(target, key), read, below));
      read.add(below);
      return inner.get(key);
    },
  });
}

function pathsOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [`${path}/${key}`, ...pathsOf(inner, `${path}/${key}`)]);
}
