import { exportGauge } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import type { BodyBytes } from './body-bytes.ts';

/** @param part Its bytes are held in `bodyBytes` too, so only what waits for them is added. */
export function measureBodyBytes(bodyBytes: BodyBytes, registry: Registry, part?: BodyBytes): void {
  const gauges: [name: string, help: string, read: () => number][] = [
    ['sluice_body_held_bytes', 'Memory reserved for bodies and responses', () => bodyBytes.held],
    ['sluice_body_waiting', 'Bodies and responses waiting for memory', () => bodyBytes.waiting + (part?.waiting ?? 0)],
    ['sluice_body_limit_bytes', 'Memory that bodies and responses may take', () => bodyBytes.limit],
  ];
  for (const [name, help, read] of gauges) exportGauge(registry, { name, help, read });
}
