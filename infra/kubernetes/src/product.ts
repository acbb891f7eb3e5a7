import type { ConfigSchema } from '@sluice/service-runtime';

/** The facts of the product that manifests are checked against. */
export interface Product {
  /** Configuration schemas by workload. */
  schemas: Readonly<Record<string, ConfigSchema>>;
  /** Names of the metrics that each running workload exports. */
  metrics: Readonly<Record<string, ReadonlySet<string>>>;
  /** Workspace of each image, by the last part of the image's name. */
  images: Readonly<Record<string, string>>;
}
