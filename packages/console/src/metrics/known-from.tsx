import { Time } from '../ui/time.tsx';
import type { RangeMetrics } from './use-metrics.ts';

/** Explains the hatched part of the charts. */
export function KnownFrom({ metrics: { requests, known_from: knownFrom } }: { metrics: RangeMetrics }) {
  if (!requests.includes(null)) return <p />;
  return (
    <p>
      {knownFrom ? (
        <>
          Hatched: no data yet. Counting began <Time at={knownFrom} />.
        </>
      ) : (
        'Hatched: the numbers are unknown. More than 200 Proxies, Applications and Reactors in total were in use in that period.'
      )}
    </p>
  );
}
