import type { ExportedMetrics } from './exported-metrics.ts';
import { queryFaults } from './query-faults.ts';

/** What we look at in a dashboard of Grafana; files may lack any of it. */
export interface GrafanaDashboard {
  uid?: string;
  title?: string;
  schemaVersion?: number;
  templating?: { list?: { name?: string; query?: { query?: string } }[] };
  panels?: GrafanaPanel[];
}

export interface GrafanaPanel {
  id?: number;
  type?: string;
  title?: string;
  gridPos?: GridPos;
  datasource?: { type?: string; uid?: string };
  targets?: { refId?: string; expr?: string; legendFormat?: string; datasource?: { uid?: string } }[];
}

interface GridPos {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Columns of Grafana's grid. */
const gridWidth = 24;

/** What Grafana would not show, or would show nothing in. */
export function dashboardFaults(dashboard: GrafanaDashboard, exported: ExportedMetrics): string[] {
  const { uid, title, schemaVersion, panels = [], templating } = dashboard;
  const faults: string[] = [];
  if (!uid) faults.push('has no uid');
  if (!title) faults.push('has no title');
  if (typeof schemaVersion !== 'number') faults.push('has no schemaVersion');
  if (panels.length === 0) faults.push('has no panels');
  const ids = panels.map(({ id }) => id);
  for (const id of ids) if (typeof id !== 'number') faults.push('a panel has no id');
  if (new Set(ids).size < ids.length) faults.push('two panels have one id');
  panels.forEach((panel, i) => {
    const name = panel.title ?? `panel ${panel.id}`;
    const say = (fault: string) => faults.push(`${name}: ${fault}`);
    if (!isPlace(panel.gridPos)) {
      say('is nowhere on the grid');
    } else {
      const place = panel.gridPos;
      if (panels.slice(0, i).some(({ gridPos }) => isPlace(gridPos) && overlap(gridPos, place)))
        say('overlaps another');
    }
    if (panel.type === 'row') return;
    for (const fault of panelFaults(panel, exported)) say(fault);
  });
  for (const { name, query } of templating?.list ?? []) {
    const [, selector] = /^label_values\((.*), \w+\)$/.exec(query?.query ?? '') ?? [];
    const found = selector === undefined ? ['is no label_values()'] : queryFaults(selector, exported);
    for (const fault of found) faults.push(`variable ${name}: ${fault}`);
  }
  return faults;
}

function panelFaults({ type, title, datasource, targets = [] }: GrafanaPanel, exported: ExportedMetrics): string[] {
  const faults: string[] = [];
  if (!type) faults.push('has no type');
  if (!title) faults.push('has no title');
  if (datasource?.uid !== 'prometheus') faults.push('has another datasource than prometheus');
  if (targets.length === 0) faults.push('has no query');
  if (new Set(targets.map(({ refId }) => refId)).size < targets.length) faults.push('two queries have one refId');
  for (const { refId, expr, datasource: ofTarget } of targets) {
    if (!refId) faults.push('a query has no refId');
    if (ofTarget?.uid !== 'prometheus') faults.push('a query has another datasource than prometheus');
    faults.push(...(expr ? queryFaults(expr, exported) : ['a query is empty']));
  }
  return faults;
}

function isPlace(place: GridPos | undefined): place is GridPos {
  if (!place) return false;
  const { x, y, w, h } = place;
  return [x, y, w, h].every(Number.isInteger) && x >= 0 && y >= 0 && w > 0 && h > 0 && x + w <= gridWidth;
}

function overlap(a: GridPos, b: GridPos): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
