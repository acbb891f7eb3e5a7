import type { ConfigSchema } from '@sluice/service-runtime';

/** What the manifests are compared with. */
export interface Product {
  /** Configuration schemas by workload. */
  schemas: Readonly<Record<string, ConfigSchema>>;
  /** Names of the metrics that a workload exports, where it is running. */
  metrics: Readonly<Record<string, ReadonlySet<string>>>;
  /** By the last part of an image's name, the workspace that it is made of. */
  images: Readonly<Record<string, string>>;
}
