import { environmentFaults } from './faults/environment-faults.ts';
import { networkFaults } from './faults/network-faults.ts';
import { referenceFaults } from './faults/reference-faults.ts';
import { workloadFaults } from './faults/workload-faults.ts';
import { type Manifest, workloadsOf } from './manifest.ts';
import type { Product } from './product.ts';

/** The faults of the manifests of one installation, one line each. */
export function manifestFaults(manifests: readonly Manifest[], product: Product): string[] {
  return [
    ...workloadsOf(manifests).flatMap((workload) =>
      [
        ...environmentFaults(workload, product.schemas[workload.name]),
        ...workloadFaults(workload, product),
        ...networkFaults(workload, manifests),
      ].map((fault) => `${workload.name}: ${fault}`),
    ),
    ...referenceFaults(manifests, product),
  ];
}
