import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { committedFiles } from './dashboards/committed.ts';
import type { ExportedMetrics } from './exported-metrics.ts';

export const alertsFile = new URL('../prometheus/alerts.yml', import.meta.url);

/** A rule of Prometheus; files may lack any of it. */
export interface AlertRule {
  alert?: string;
  expr?: string;
  for?: string;
  labels?: { severity?: string };
  annotations?: { summary?: string; what_to_do?: string };
}

interface GrafanaDashboard {
  templating: { list: { query: { query: string } }[] };
  panels: { targets?: { expr: string }[] }[];
}

export function readAlerts(): AlertRule[] {
  const file: { groups: { rules: AlertRule[] }[] } = parse(readFileSync(alertsFile, 'utf8'));
  return file.groups.flatMap(({ rules }) => rules);
}

/** Queries of the committed dashboards as PromQL, which has no variables and no `label_values`. */
export function dashboardQueries(): string[] {
  return committedFiles.flatMap(({ text }) => {
    const { panels, templating }: GrafanaDashboard = JSON.parse(text);
    const ofPanels = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const ofVariables = templating.list.map(({ query }) =>
      query.query.replace(/^label_values\((.*), (\w+)\)$/, 'count by ($2) ($1)'),
    );
    return [...ofPanels, ...ofVariables].map((query) => query.replaceAll('$__rate_interval', '5m'));
  });
}

const labelsOfTargets = ['job', 'instance'];
const metricsOfTargets = ['up'];
const operators = ['and', 'or', 'unless'];
const grouping = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;

/** Names of metrics and labels in a query that no process exports, which promtool cannot know. */
export function unknownNames(query: string, { series }: ExportedMetrics): string[] {
  const labels = new Set([...labelsOfTargets, ...[...series.values()].flatMap((names) => [...names])]);
  const grouped = [...query.matchAll(grouping)].flatMap(([, names = '']) => names.split(/,\s*/));
  const matched = [...query.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, name = '']) => name);
  const withoutLabels = query.replace(/\{[^}]*\}|\[[^\]]*\]/g, '').replace(grouping, '');
  const metrics = withoutLabels.match(/[a-zA-Z_:][\w:]*\b(?!\s*\()/g) ?? [];
  const known = (name: string) => series.has(name) || metricsOfTargets.includes(name) || operators.includes(name);
  return [...metrics.filter((name) => !known(name)), ...[...matched, ...grouped].filter((name) => !labels.has(name))];
}
