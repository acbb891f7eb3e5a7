import { readFileSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';
import type { Readiness } from './admin.ts';
import { exportGauge } from './metrics/measured.ts';

export const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

export function measureProcess(service: string, readiness: Readiness, registry: Registry): void {
  new Gauge({
    name: 'sluice_build_info',
    help: 'Always 1',
    labelNames: ['service', 'version'],
    registers: [registry],
  }).set({ service, version }, 1);
  exportGauge(registry, {
    name: 'sluice_ready',
    help: 'Whether /readyz was 200 when last checked',
    read: () => Number(readiness.state === 'running' && readiness.wasReady),
  });
  exportGauge(registry, {
    name: 'sluice_draining',
    help: 'Whether the process is stopping',
    read: () => Number(readiness.state === 'stopping'),
  });
}
