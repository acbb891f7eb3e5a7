import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type ComposeFile, readComposeFile, repositoryRoot } from './rehearsal/compose-file.ts';
import { type Monitoring, monitoringFaults } from './rehearsal/monitoring-faults.ts';

const readYaml = async (path: string) => parse(await readFile(join(repositoryRoot, 'infra/monitoring', path), 'utf8'));

const readMonitoring = async (): Promise<Monitoring> => ({
  prometheus: await readYaml('prometheus/prometheus.yml'),
  datasources: await readYaml('grafana/provisioning/datasources/prometheus.yaml'),
  dashboards: await readYaml('grafana/provisioning/dashboards/sluice.yaml'),
});

test('Prometheus asks every replica of every service, and Grafana asks Prometheus', async () => {
  expect(monitoringFaults(await readComposeFile(), await readMonitoring())).toEqual([]);
});

test.each<[string, (compose: ComposeFile, monitoring: Monitoring) => void, string]>([
  [
    'a service that nobody asks',
    (_, { prometheus }) => prometheus.scrape_configs.splice(0, 1),
    'nobody asks management-api for its metrics',
  ],
  [
    'a name that is no service',
    (_, { prometheus }) => prometheus.scrape_configs[0]?.dns_sd_configs?.[0]?.names.push('redis'),
    'redis:9080 is no admin port',
  ],
  [
    'another port',
    ({ services }) => Object.assign(services.worker?.environment ?? {}, { ADMIN_PORT: '9084' }),
    'worker:9080 is no admin port',
  ],
  [
    'a port that listens to itself',
    ({ services }) => delete services.worker?.environment?.ADMIN_HOST,
    'worker keeps Prometheus out',
  ],
  [
    'a service in no common network',
    ({ services }) => services.worker?.networks?.pop(),
    'Prometheus cannot reach worker',
  ],
  [
    'a Prometheus that Grafana does not reach',
    ({ services }) => services.prometheus?.networks?.pop(),
    'Grafana does not reach http://prometheus:9090',
  ],
  [
    'dashboards that are elsewhere',
    (_, { dashboards }) => Object.assign(dashboards.providers[0]?.options ?? {}, { path: '/dashboards' }),
    '/dashboards is not mounted in Grafana',
  ],
])('a fault is found: %s', async (_, change, fault) => {
  const [compose, monitoring] = [structuredClone(await readComposeFile()), await readMonitoring()];
  change(compose, monitoring);
  expect(monitoringFaults(compose, monitoring)).toContain(fault);
});
