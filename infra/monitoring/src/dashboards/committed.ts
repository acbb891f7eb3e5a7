import { toGrafana } from './dashboard.ts';
import { state } from './state.ts';
import { toJson } from './to-json.ts';
import { traffic } from './traffic.ts';

const dashboards = [traffic, state];

/** The files that Grafana reads, with the text that they must have. */
export const committedFiles = dashboards.map((dashboard) => ({
  file: new URL(`../../grafana/dashboards/${dashboard.uid}.json`, import.meta.url),
  text: `${toJson(toGrafana(dashboard))}\n`,
}));
