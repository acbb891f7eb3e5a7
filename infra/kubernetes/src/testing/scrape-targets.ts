import { type Manifest, workloadsOf } from '../manifest.ts';

interface RelabelRule {
  source_labels: string[];
  regex?: string;
  action?: 'keep';
  target_label?: string;
}

export interface ScrapeJob {
  job_name: string;
  relabel_configs: RelabelRule[];
}

type Labels = Record<string, string>;

/** What Prometheus would scrape of these manifests, by the rules that our job uses: one target for each port. */
export function scrapeTargets(manifests: readonly Manifest[], job: ScrapeJob): Labels[] {
  return workloadsOf(manifests).flatMap(({ name, labels, container }) =>
    (container.ports ?? []).flatMap((port) => {
      const target: Labels = {
        job: job.job_name,
        __meta_kubernetes_pod_name: `${name}-0`,
        __meta_kubernetes_namespace: 'sluice',
        __meta_kubernetes_pod_container_port_name: port.name ?? '',
        __meta_kubernetes_pod_label_app_kubernetes_io_name: labels['app.kubernetes.io/name'] ?? '',
      };
      const isKept = job.relabel_configs.every((rule) => relabel(target, rule));
      return isKept ? [Object.fromEntries(Object.entries(target).filter(([label]) => !label.startsWith('__')))] : [];
    }),
  );
}

/** @returns whether the target is kept. */
function relabel(target: Labels, { source_labels, regex = '.*', action, target_label = '' }: RelabelRule): boolean {
  const value = source_labels.map((label) => target[label] ?? '').join(';');
  if (action === 'keep') return new RegExp(`^(?:${regex})$`).test(value);
  target[target_label] = value;
  return true;
}
