import { exportGauge } from '@sluice/service-runtime';
import type { Registry } from 'prom-client';
import type { BodyBytes } from './body-bytes.ts';

export function measureBodyBytes(bodyBytes: BodyBytes, registry: Registry): void {
  const gauges: [name: string, help: string, read: () => number][] = [
    ['sluice_body_held_bytes', 'Memory reserved for bodies and responses', () => bodyBytes.held],
    ['sluice_body_waiting', 'Bodies and responses waiting for memory', () => bodyBytes.waiting],
    ['sluice_body_limit_bytes', 'Limit of the memory that bodies and responses may take', () => bodyBytes.limit],
  ];
  for (const [name, help, read] of gauges) exportGauge(registry, { name, help, read });
}
