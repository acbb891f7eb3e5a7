import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Chart } from '../ui/chart.tsx';
import { useTimeZone } from '../ui/time.tsx';
import { linkOfStep } from './links.ts';
import { Numbers } from './numbers.tsx';
import { ranges } from './range.ts';
import { stepOf, stepText } from './step-text.ts';
import { countText, failuresOf, millisecondsText, peakOf, sumOf } from './sums.ts';
import type { MetricsFilter, RangeMetrics } from './use-metrics.ts';

interface ChartProps {
  metrics: RangeMetrics;
  filter: MetricsFilter;
}

/** Invocations that succeeded, that failed at the destination, and that failed here, on one another. */
export function InvocationsChart({ metrics, filter }: ChartProps) {
  const { requests, destination_errors: theirs, range } = metrics;
  const failed = failuresOf(metrics);
  const good = requests.map((all, at) =>
    all === null ? null : Math.max(0, all - (failed[at] ?? 0) - (theirs[at] ?? 0)),
  );
  const peak = peakOf(requests);
  const { step, textOf, common } = useSteps({ metrics, filter });
  const at = <T,>(values: readonly T[], all: T | undefined) => (step === undefined ? all : values[step]);
  return (
    <Chart
      {...common}
      label={`Invocations ${ranges[range].perStep}: ${countText(sumOf(requests))} in the last ${ranges[range].last}`}
      kind="bars"
      series={[
        { name: 'Succeeded', tone: 'accent', values: good },
        { name: 'Destination errors', tone: 'warn', values: theirs },
        { name: 'Failed', tone: 'bad', values: failed },
      ]}
      format={countText}
    >
      <Numbers
        {...{ metrics, filter, step }}
        about={`In the last ${ranges[range].last}${peak ? ` · peak ${countText(peak.count)} (${textOf(peak.step)})` : ''}`}
        numbers={[
          { name: 'Invocations', tone: 'accent', value: countText(at(requests, sumOf(requests))) },
          { name: 'Destination errors', tone: 'warn', value: countText(at(theirs, sumOf(theirs))) },
          { name: 'Failed', tone: 'bad', value: countText(at(failed, sumOf(failed))) },
          ...(step === undefined ? [] : [{ name: 'Latency', value: latencyText(metrics, step) }]),
        ]}
      />
    </Chart>
  );
}

/** Of the median and of the slowest hundredth. A step without invocations has none. */
export function LatencyChart({ metrics, filter }: ChartProps) {
  const { p50, p99 } = metrics.latency_ms;
  const slowest = peakOf(p99);
  const { step, textOf, common } = useSteps({ metrics, filter });
  const newest = p99.findLastIndex((value) => value !== null);
  const shown = step ?? newest;
  return (
    <Chart
      {...common}
      label={`Latency: median ${millisecondsText(p50[newest])} in the latest step with invocations`}
      kind="lines"
      series={[
        { name: 'Median', tone: 'accent', values: p50 },
        { name: '99% below', tone: 'warn', values: p99 },
      ]}
      format={millisecondsText}
    >
      <Numbers
        {...{ metrics, filter, step }}
        about={
          slowest
            ? `Latest invocations · slowest ${millisecondsText(slowest.count)} (${textOf(slowest.step)})`
            : nothingText(metrics)
        }
        numbers={[
          { name: 'Median', tone: 'accent', value: millisecondsText(p50[shown]) },
          { name: '99% below', tone: 'warn', value: millisecondsText(p99[shown]) },
        ]}
      />
    </Chart>
  );
}

/** What to say in place of figures. */
export function nothingText({ requests, range }: RangeMetrics): string {
  return sumOf(requests) === undefined ? 'No data yet' : `No invocations in the last ${ranges[range].last}`;
}

/** The chosen step of a chart, and what its plot needs for it. */
function useSteps({ metrics, filter }: ChartProps) {
  const timeZone = useTimeZone();
  const [chosen, setStep] = useState<number>();
  const navigate = useNavigate();
  const { from, to, requests } = metrics;
  const step = chosen !== undefined && chosen < requests.length ? chosen : undefined;
  const rangeMs = Date.parse(to) - Date.parse(from);
  const textOf = (at: number) => stepText(stepOf(metrics, at), rangeMs, timeZone);
  return {
    step,
    textOf,
    common: {
      ...{ from, to, timeZone, known: requests, step, onStep: setStep },
      describe: (at: number) => `${textOf(at)}: ${describe(metrics, at)}`,
      onOpen: (at: number) => navigate(linkOfStep(stepOf(metrics, at), filter).link),
    },
  };
}

function describe(metrics: RangeMetrics, at: number): string {
  const count = metrics.requests[at] ?? null;
  if (count === null) return 'no data yet';
  const failed = failuresOf(metrics)[at] ?? 0;
  const theirs = metrics.destination_errors[at] ?? 0;
  return `${count} invocations, ${failed} failed, ${theirs} destination errors, latency ${latencyText(metrics, at)}`;
}

function latencyText({ latency_ms: { p50, p99 } }: RangeMetrics, at: number): string {
  return (p50[at] ?? null) === null ? '–' : `${millisecondsText(p50[at])}, 99% below ${millisecondsText(p99[at])}`;
}
