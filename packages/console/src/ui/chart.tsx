import { usePreferences } from '../api/preferences.ts';
import styles from './chart.module.css';
import { minuteText } from './moment.ts';

interface Series {
  name: string;
  /** One for each step; null where there is none. */
  values: readonly (number | null)[];
}

interface ChartProps {
  /** Describes it, with its most important number, for screen readers. */
  label: string;
  /** ISO 8601. */
  from: string;
  to: string;
  series: readonly [Series] | readonly [Series, Series];
  format: (value: number) => string;
}

const width = 600;
const height = 160;
const tones = [styles.first, styles.second];

export function Chart({ label, from, to, series, format }: ChartProps) {
  const highest = Math.max(1, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const { zone } = usePreferences();
  return (
    <figure className={styles.chart}>
      <div className={styles.legend}>
        {series.map(({ name }, at) => (
          <span key={name}>
            <i className={tones[at]} />
            {name}
          </span>
        ))}
      </div>
      <div className={styles.labels}>
        <span>{format(highest)}</span>
      </div>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {[0, 0.5, 1].map((part) => (
          <line key={part} className={styles.grid} x1="0" x2={width} y1={part * height} y2={part * height} />
        ))}
        {series.map(({ name, values }, at) => (
          <g key={name} className={tones[at]}>
            {at === 0 && series.length === 1 && <path className={styles.area} d={areaOf(values, highest)} />}
            <path className={styles.line} d={lineOf(values, highest)} />
          </g>
        ))}
      </svg>
      <div className={styles.labels}>
        <span>{minuteText(from, zone)}</span>
        <span>{minuteText(to, zone)}</span>
      </div>
    </figure>
  );
}

/** A line with its gaps. A single value between two gaps is a short dash, because a point would be invisible. */
function lineOf(values: Series['values'], highest: number): string {
  return values
    .map((value, at) => {
      if (value === null) return '';
      const [x, y] = placeOf(at, value, { values, highest });
      const isAlone = (values[at - 1] ?? null) === null;
      return isAlone ? `M${x - 6} ${y}L${x} ${y}` : `L${x} ${y}`;
    })
    .join('');
}

function areaOf(values: Series['values'], highest: number): string {
  const points = values.map((value, at) => placeOf(at, value ?? 0, { values, highest }).join(' '));
  return `M0 ${height}L${points.join('L')}L${width} ${height}Z`;
}

function placeOf(
  at: number,
  value: number,
  { values, highest }: { values: Series['values']; highest: number },
): [x: number, y: number] {
  const x = values.length > 1 ? (at / (values.length - 1)) * width : width;
  return [Math.round(x * 10) / 10, Math.round((1 - value / highest) * height * 10) / 10];
}
