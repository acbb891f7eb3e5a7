/**
 * The source of a dashboard: rows of panels. The positions of panels, and everything else that Grafana needs, are
 * computed.
 */
export interface Dashboard {
  uid: string;
  title: string;
  rows: readonly Row[];
}

export interface Row {
  title: string;
  panels: readonly Panel[];
}

interface Panel {
  title: string;
  /** Unit of Grafana: `s`, `bytes`, `reqps`, `percentunit`, `short`. */
  unit: string;
  /** Queries by their legend. `$scope` stands for the chosen services and instances. */
  queries: Readonly<Record<string, string>>;
  description?: string;
}

const scope = 'job=~"$job",instance=~"$instance"';
const datasource = { type: 'prometheus', uid: 'prometheus' };
const columns = 3;
const width = 24 / columns;
const height = 8;

/** The JSON that Grafana reads. */
export function toGrafana({ uid, title, rows }: Dashboard): Record<string, unknown> & { panels: object[] } {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    });
    y += 1;
    row.panels.forEach((panel, i) => {
      const gridPos = { x: (i % columns) * width, y: y + Math.floor(i / columns) * height, w: width, h: height };
      panels.push({ id: panels.length + 1, ...toPanel(panel), gridPos });
    });
    y += Math.ceil(row.panels.length / columns) * height;
  }
  return {
    uid,
    title,
    tags: ['sluice'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        variable('job', 'Service', 'sluice_build_info'),
        variable('instance', 'Instance', 'sluice_build_info{job=~"$job"}'),
      ],
    },
    panels,
  };
}

function toPanel({ title, unit, queries, description }: Panel): object {
  return {
    type: 'timeseries',
    title,
    ...(description !== undefined && { description }),
    datasource,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(queries).map(([legendFormat, query], i) => ({
      refId: String.fromCharCode(65 + i),
      datasource,
      expr: query.replaceAll('$scope', scope),
      legendFormat,
    })),
  };
}

function variable(name: string, label: string, metric: string): object {
  const query = `label_values(${metric}, ${name})`;
  return {
    name,
    label,
    type: 'query',
    datasource,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  };
}
