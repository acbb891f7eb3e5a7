import { toGrafana } from './dashboard.ts';
import { state } from './state.ts';
import { traffic } from './traffic.ts';

const lineWidth = 120;

/** JSON in the repository's format: everything that fits is on one line. */
function toJson(value: unknown, indent = 0, used = indent): string {
  const line = onOneLine(value);
  if (used + line.length < lineWidth || typeof value !== 'object' || value === null) return line;
  const inner = indent + 2;
  const pad = ' '.repeat(inner);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Array.isArray(value)
    ? value.map((one) => toJson(one, inner))
    : Object.entries(value).map(([key, one]) => {
        const name = `${JSON.stringify(key)}: `;
        return name + toJson(one, inner, inner + name.length);
      });
  return `${open}\n${members.map((member) => pad + member).join(',\n')}\n${' '.repeat(indent)}${close}`;
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${onOneLine(one)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const dashboards = [traffic, state];

/** The files that Grafana reads, with the text that they must have. */
export const committedFiles = dashboards.map((dashboard) => ({
  file: new URL(`../../grafana/dashboards/${dashboard.uid}.json`, import.meta.url),
  text: `${toJson(toGrafana(dashboard))}\n`,
}));
