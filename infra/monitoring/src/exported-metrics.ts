/** A metric as a process exports it. */
export interface ExportedMetric {
  type: string;
  help: string;
}

/** What processes export, read from the text format of Prometheus. */
export interface ExportedMetrics {
  /** By the name of the family: `x_seconds`. */
  families: Map<string, ExportedMetric>;
  /** Names of series with the names of their labels: `x_seconds_bucket` has `le`. */
  series: Map<string, Set<string>>;
}

const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="(?:[^"\\]|\\.)*"/g;

/** @throws {Error} for a line that Prometheus would not read. */
export function readExported(texts: readonly string[]): ExportedMetrics {
  const families: ExportedMetrics['families'] = new Map();
  const series: ExportedMetrics['series'] = new Map();
  for (const line of texts.join('\n').split('\n')) {
    const [, kind, family = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (kind) {
      const metric = families.get(family) ?? { type: '', help: '' };
      families.set(family, { ...metric, ...(kind === 'TYPE' ? { type: rest } : { help: rest }) });
    } else if (line !== '' && !line.startsWith('#')) {
      const [, name, labels = ''] = sample.exec(line) ?? [];
      if (name === undefined) throw new Error(`no line of the text format: ${line}`);
      const names = series.get(name) ?? new Set();
      for (const [, one = ''] of labels.matchAll(label)) names.add(one);
      series.set(name, names);
    }
  }
  return { families, series };
}
