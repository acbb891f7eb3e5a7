import { toGrafana } from './dashboard.ts';
import { state } from './state.ts';
import { traffic } from './traffic.ts';

/** JSON with a panel on each line. */
function toJson({ panels, ...head }: ReturnType<typeof toGrafana>): string {
  const lines = panels.map((panel) => JSON.stringify(panel)).join(',\n');
  return `${JSON.stringify(head).slice(0, -1)},"panels":[\n${lines}\n]}\n`;
}

const dashboards = [traffic, state];

/** The files that Grafana reads, with the text that they must have. */
export const committedFiles = dashboards.map((dashboard) => ({
  file: new URL(`../../grafana/dashboards/${dashboard.uid}.json`, import.meta.url),
  text: toJson(toGrafana(dashboard)),
}));
