import type { ReactorRun } from '@sluice/sdk';

const milliseconds = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'millisecond' });

/** How long a run took, undefined until it has ended. */
export function tookOf({ duration_ms: duration }: ReactorRun): string | undefined {
  return duration === undefined ? undefined : milliseconds.format(duration);
}

export function isUnderWay({ state }: ReactorRun): boolean {
  return state === 'waiting' || state === 'running';
}
