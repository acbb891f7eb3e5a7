import type { ExportedMetrics } from './exported-metrics.ts';

/** Its lists are between comments. */
export const metricsDocument = new URL('../METRICS.md', import.meta.url);

/** @throws {Error} where the text has no lists. */
export function listIn(text: string): string {
  const [, list] = /<!-- metrics -->\n\n(.*)\n\n<!-- end of metrics -->/s.exec(text) ?? [];
  if (list === undefined) throw new Error('there is no list of metrics');
  return list;
}

interface Metric {
  by: string;
  named: string;
  help: string;
}

/** The platform's own metrics: a list for each set of processes that export the same, the longest first. */
export function metricsList(exportedBy: ReadonlyMap<string, ExportedMetrics>): string {
  const names = new Set([...exportedBy.values()].flatMap(({ families }) => [...families.keys()]));
  const metrics = [...names]
    .filter((name) => name.startsWith('sluice_'))
    .sort()
    .map((name): Metric => {
      const services = [...exportedBy].filter(([, { families }]) => families.has(name));
      const metric = services[0]?.[1].families.get(name);
      const labels = new Set(services.flatMap(([, { series }]) => labelsOf(name, series)));
      const named = labels.size > 0 ? `\`${name}\` {${[...labels].sort().join(', ')}}` : `\`${name}\``;
      const by =
        services.length === exportedBy.size ? 'All processes' : services.map(([service]) => service).join(', ');
      return { by, named, help: oneLine(metric?.help) + (metric?.type === 'histogram' ? ' (histogram)' : '') };
    });
  const lists = [...Map.groupBy(metrics, ({ by }) => by)].sort(
    ([one, a], [other, b]) => b.length - a.length || (one < other ? -1 : 1),
  );
  return lists.map(([by, members]) => `### ${by}\n\n${items(members).join('\n')}`).join('\n\n');
}

/** Metrics that mean the same (of transforms and of reactors) share an item. */
function items(metrics: readonly Metric[]): string[] {
  return [...Map.groupBy(metrics, ({ help }) => help)].map(
    ([help, alike]) => `- ${alike.map(({ named }) => named).join(', ')}: ${help}`,
  );
}

function labelsOf(family: string, series: ExportedMetrics['series']): string[] {
  const found = [family, `${family}_count`].flatMap((name) => [...(series.get(name) ?? [])]);
  return found.filter((label) => label !== 'le');
}

function oneLine(text = ''): string {
  return text.replace(/\s+/g, ' ').trim();
}
