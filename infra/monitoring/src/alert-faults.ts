import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { ExportedMetrics } from './exported-metrics.ts';
import { queryFaults } from './query-faults.ts';

/** A rule of Prometheus; files may lack any of it. */
export interface AlertRule {
  alert?: string;
  expr?: string;
  for?: string;
  labels?: { severity?: string };
  annotations?: { summary?: string; what_to_do?: string };
}

export interface AlertFile {
  groups: { name: string; rules: AlertRule[] }[];
}

const severities = ['critical', 'warning'];

export function readAlerts(): AlertFile {
  return parse(readFileSync(new URL('../prometheus/alerts.yml', import.meta.url), 'utf8'));
}

/** What would keep an alert from firing, or leave whoever gets it helpless. */
export function alertFaults({ groups }: AlertFile, exported: ExportedMetrics): string[] {
  const rules = groups.flatMap((group) => group.rules);
  const names = rules.map(({ alert }) => alert);
  const faults = names.filter((name, i) => names.indexOf(name) < i).map((name) => `there are two ${name}`);
  for (const rule of rules) faults.push(...ruleFaults(rule, exported).map((fault) => `${rule.alert}: ${fault}`));
  return faults;
}

function ruleFaults({ alert, expr, for: duration, labels, annotations }: AlertRule, exported: ExportedMetrics) {
  const faults = expr ? queryFaults(expr, exported) : ['has no expr'];
  if (!/^Sluice[A-Z][A-Za-z]+$/.test(alert ?? '')) faults.push('is no name of an alert');
  if (!/^\d+[smh]$/.test(duration ?? '')) faults.push('has no for');
  if (!severities.includes(labels?.severity ?? ''))
    faults.push(`has a severity that is not ${severities.join(' or ')}`);
  if (!annotations?.summary) faults.push('has no summary');
  if (!/\w.{20,}[.;:]/s.test(annotations?.what_to_do ?? '')) faults.push('does not say what to do');
  return faults;
}
