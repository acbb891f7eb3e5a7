import type { KeyboardEvent, MouseEvent, PointerEvent, ReactNode } from 'react';
import styles from './chart.module.css';
import { roundAbove, timeTicks, unknownParts, zoneOffsetMs } from './chart-scale.ts';

type Values = readonly (number | null)[];

interface Series {
  name: string;
  tone: 'accent' | 'warn' | 'bad';
  /** One for each step. */
  values: Values;
}

interface ChartProps {
  /** Describes it, with its most important number, for screen readers. */
  label: string;
  /** ISO 8601. */
  from: string;
  to: string;
  /** Of the axis; by default that of the reader. */
  timeZone: string | undefined;
  /** Bars stand on one another, the first at the bottom. */
  kind: 'bars' | 'lines';
  series: readonly Series[];
  /** A step in which it is null was not recorded. */
  known: Values;
  format: (value: number) => string;
  /** The step that the pointer or the keyboard has chosen. */
  step: number | undefined;
  onStep: (step: number | undefined) => void;
  /** Everything about a step in a sentence, for screen readers. */
  describe: (step: number) => string;
  /** Called for a click and for Enter on a step. */
  onOpen: (step: number) => void;
  /** The most important numbers, or those of the chosen step. */
  children: ReactNode;
}

const width = 600;
const height = 160;
/** So that one of thousands is still seen. */
const leastHeight = 2.5;

export function Chart(props: ChartProps) {
  const { label, from, to, timeZone, kind, series, known, format, step, children } = props;
  const steps = known.length;
  const sums = known.map((_, at) =>
    series.reduce((sum, { values }) => (kind === 'bars' ? sum + (values[at] ?? 0) : Math.max(sum, values[at] ?? 0)), 0),
  );
  const top = roundAbove(Math.max(0, ...sums));
  return (
    <figure className={styles.chart}>
      <div className={kind === 'bars' ? styles.many : styles.numbers}>{children}</div>
      <div className={styles.body}>
        <div className={styles.values} aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{format(value)}</span>
          ))}
        </div>
        <div className={styles.plot}>
          {unknownParts(known).map((part) => (
            <span key={part.from} className={styles.unknown} style={placeOf(part)}>
              {part.to - part.from > 0.2 && <span>{part.from === 0 ? 'no data yet' : 'unknown'}</span>}
            </span>
          ))}
          {step !== undefined && (
            <span className={styles.chosen} style={placeOf({ from: step / steps, to: (step + 1) / steps })} />
          )}
          <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
            {[0, 0.5, 1].map((part) => (
              <line key={part} className={styles.grid} x1="0" x2={width} y1={part * height} y2={part * height} />
            ))}
            {kind === 'bars' && <Bars series={series} top={top} />}
            {kind === 'lines' &&
              series.map(({ name, tone, values }) => (
                <path key={name} className={`${styles.line} ${styles[tone]}`} d={lineOf(values, top)} />
              ))}
          </svg>
          <Chooser {...props} />
        </div>
        <span className={styles.zone}>{zoneText(to, timeZone)}</span>
        <TimeAxis from={from} to={to} timeZone={timeZone} />
      </div>
    </figure>
  );
}

/** Lies over the plot. Browsers make it work by the keyboard and by touch, and screen readers say its steps. */
function Chooser({ label, known, step, onStep, describe, onOpen }: ChartProps) {
  const last = known.length - 1;
  const stepAt = ({ currentTarget, clientX }: MouseEvent) => {
    const { left, width: wide } = currentTarget.getBoundingClientRect();
    return Math.min(last, Math.max(0, Math.floor(((clientX - left) / wide) * known.length)));
  };
  const onPointer = (event: PointerEvent) => onStep(stepAt(event));
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && step !== undefined) onOpen(step);
    if (event.key === 'Escape') onStep(undefined);
  };
  return (
    <input
      type="range"
      className={styles.chooser}
      aria-label={`Steps of ${label}`}
      aria-valuetext={step === undefined ? 'No step is chosen' : describe(step)}
      min={0}
      max={last}
      value={step ?? last}
      onChange={(event) => onStep(event.target.valueAsNumber)}
      onFocus={() => step === undefined && onStep(last)}
      onBlur={() => onStep(undefined)}
      onKeyDown={onKey}
      onPointerDown={onPointer}
      onPointerMove={onPointer}
      onPointerLeave={(event) => event.pointerType === 'mouse' && onStep(undefined)}
      // A touch only chooses a step: its numbers are beside a link.
      onClick={(event) =>
        (event.nativeEvent as globalThis.PointerEvent).pointerType === 'mouse' && onOpen(stepAt(event))
      }
    />
  );
}

function Bars({ series, top }: { series: readonly Series[]; top: number }) {
  const heights = new Map<number, number>();
  return series.map(({ name, tone, values }) => (
    <g key={name} className={styles[tone]}>
      {values.map((value, at) => {
        if (!value) return null;
        const below = heights.get(at) ?? 0;
        const tall = Math.max(leastHeight, (value / top) * height);
        heights.set(at, below + tall);
        const wide = width / values.length;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its step
          <rect key={at} x={at * wide + wide * 0.12} y={height - below - tall} width={wide * 0.76} height={tall} />
        );
      })}
    </g>
  ));
}

function TimeAxis({ from, to, timeZone }: Pick<ChartProps, 'from' | 'to' | 'timeZone'>) {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const { atMs, areDays } = timeTicks(fromMs, toMs, zoneOffsetMs(fromMs, timeZone));
  const partOf = (at: number) => (at - fromMs) / (toMs - fromMs);
  const parts = areDays
    ? ({ month: 'short', day: 'numeric' } as const)
    : ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const);
  const time = new Intl.DateTimeFormat(undefined, { ...parts, timeZone });
  return (
    <div className={styles.times} aria-hidden="true">
      {atMs.map((at) => (
        <span key={at} style={{ left: `${partOf(at) * 100}%` }}>
          {partOf(at) > 0.03 && partOf(at) < 0.97 && time.format(at)}
        </span>
      ))}
    </div>
  );
}

/** The name of the zone of the axis, such as `GMT+1`. */
function zoneText(at: string, timeZone: string | undefined): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short', timeZone }).formatToParts(Date.parse(at));
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** A line with its gaps. A single value between two gaps is a short dash, because a point would be invisible. */
function lineOf(values: Values, top: number): string {
  return values
    .map((value, at) => {
      if (value === null) return '';
      const x = ((at + 0.5) / values.length) * width;
      const y = (1 - value / top) * height;
      const isAlone = (values[at - 1] ?? null) === null;
      return isAlone ? `M${x - 3} ${y}L${x + 1} ${y}` : `L${x} ${y}`;
    })
    .join('');
}

function placeOf({ from, to }: { from: number; to: number }) {
  return { left: `${from * 100}%`, width: `${(to - from) * 100}%` };
}
