import type { ExportedMetrics } from './exported-metrics.ts';

/** The file whose table is between comments. */
export const metricsDocument = new URL('../METRICS.md', import.meta.url);

/** @throws {Error} where the text has no table. */
export function tableIn(text: string): string {
  const [, table] = /<!-- metrics -->\n\n(.*)\n\n<!-- end of metrics -->/s.exec(text) ?? [];
  if (table === undefined) throw new Error('there is no table of metrics');
  return table;
}

/** The platform's own metrics: a table for each set of processes that export the same, the longest first. */
export function metricsTable(exportedBy: ReadonlyMap<string, ExportedMetrics>): string {
  const names = new Set([...exportedBy.values()].flatMap(({ families }) => [...families.keys()]));
  const metrics = [...names]
    .filter((name) => name.startsWith('sluice_'))
    .sort()
    .map((name) => {
      const services = [...exportedBy].filter(([, { families }]) => families.has(name));
      const metric = services[0]?.[1].families.get(name);
      const labels = new Set(services.flatMap(([, { series }]) => labelsOf(name, series)));
      const by =
        services.length === exportedBy.size ? 'All processes' : services.map(([service]) => service).join(', ');
      const labelled = labels.size > 0 ? ` {${[...labels].sort().join(', ')}}` : '';
      const meaning = `${oneLine(metric?.help)}${metric?.type === 'histogram' ? ' (histogram)' : ''}`;
      return { by, name, rest: `${labelled} | ${meaning} |` };
    });
  const tables = [...Map.groupBy(metrics, ({ by }) => by)].sort(
    ([one, a], [other, b]) => b.length - a.length || (one < other ? -1 : 1),
  );
  const head = ['| Metric {labels} | What it is |', '|---|---|'];
  return tables.map(([by, members]) => [`### ${by}`, '', ...head, ...rowsOf(members)].join('\n')).join('\n\n');
}

/** Metrics that mean the same, of transforms and of reactors, share a row. */
function rowsOf(metrics: readonly { name: string; rest: string }[]): string[] {
  const alike = [...Map.groupBy(metrics, ({ rest }) => rest)];
  return alike.map(([rest, members]) => `| ${members.map(({ name }) => `\`${name}\``).join(', ')}${rest}`);
}

function labelsOf(family: string, series: ExportedMetrics['series']): string[] {
  const found = [family, `${family}_count`].flatMap((name) => [...(series.get(name) ?? [])]);
  return found.filter((label) => label !== 'le');
}

function oneLine(text = ''): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}
