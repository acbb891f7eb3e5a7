import type { AlertFile } from './alert-faults.ts';
import type { ExportedMetrics } from './exported-metrics.ts';

export type TableName = 'alerts' | 'metrics';

/** The document of each table, which stands between comments that name it. */
export const documents: Readonly<Record<TableName, URL>> = {
  alerts: new URL('../ALERTS.md', import.meta.url),
  metrics: new URL('../METRICS.md', import.meta.url),
};

const markersOf = (name: TableName) => ({ begin: `<!-- ${name} -->\n\n`, end: `\n\n<!-- end of ${name} -->` });

/** @throws {Error} where the text has no such table. */
export function tableIn(text: string, name: TableName): string {
  const { begin, end } = markersOf(name);
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < 0) throw new Error(`there is no table of ${name}`);
  return text.slice(from + begin.length, to);
}

export function withTable(text: string, name: TableName, table: string): string {
  const { begin, end } = markersOf(name);
  return text.replace(begin + tableIn(text, name) + end, () => begin + table + end);
}

export function alertsTable({ groups }: AlertFile): string {
  const rows = groups.flatMap(({ rules }) =>
    rules.map(
      ({ alert, labels, for: duration, annotations }) =>
        `| ${alert} | ${labels?.severity} | ${duration} | ${oneLine(annotations?.what_to_do)} |`,
    ),
  );
  return ['| Alert | Severity | After | What to do |', '|---|---|---|---|', ...rows].join('\n');
}

/** The platform's own metrics by name, with the processes that export them. */
export function metricsTable(exportedBy: ReadonlyMap<string, ExportedMetrics>): string {
  const names = new Set([...exportedBy.values()].flatMap(({ families }) => [...families.keys()]));
  const rows = [...names]
    .filter((name) => name.startsWith('sluice_'))
    .sort()
    .map((name) => {
      const services = [...exportedBy].filter(([, { families }]) => families.has(name));
      const metric = services[0]?.[1].families.get(name);
      const labels = new Set(services.flatMap(([, { series }]) => labelsOf(name, series)));
      const all = services.length === exportedBy.size ? 'all' : services.map(([service]) => service).join(', ');
      const named = labels.size > 0 ? `\`${name}\` {${[...labels].sort().join(', ')}}` : `\`${name}\``;
      return `| ${named} | ${metric?.type} | ${all} | ${oneLine(metric?.help)} |`;
    });
  return ['| Metric {labels} | Type | Of | What it is |', '|---|---|---|---|', ...rows].join('\n');
}

function labelsOf(family: string, series: ExportedMetrics['series']): string[] {
  const found = [family, `${family}_count`].flatMap((name) => [...(series.get(name) ?? [])]);
  return found.filter((label) => label !== 'le');
}

function oneLine(text = ''): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}
