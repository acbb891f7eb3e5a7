import { type ComposeFile, mountsOf } from './compose-file.ts';

/** The parts of the files of infra/monitoring that name services of docker-compose.yml. */
export interface Monitoring {
  prometheus: { scrape_configs: { job_name: string; dns_sd_configs?: { names: string[]; port: number }[] }[] };
  datasources: { datasources: { url: string }[] };
  dashboards: { providers: { options: { path: string } }[] };
}

/** Targets of Prometheus and Grafana that do not exist, and services that no one scrapes. */
export function monitoringFaults({ services }: ComposeFile, monitoring: Monitoring): string[] {
  const { prometheus, datasources, dashboards } = monitoring;
  const reaches = (from: string, to: string) =>
    services[from]?.networks?.some((network) => services[to]?.networks?.includes(network)) === true;
  const targets = prometheus.scrape_configs.flatMap(({ dns_sd_configs = [] }) =>
    dns_sd_configs.flatMap(({ names, port }) => names.map((name) => ({ name, port }))),
  );
  const exporters = Object.keys(services).filter((name) => services[name]?.environment?.ADMIN_PORT);
  const mounted = mountsOf(services.grafana ?? {}).map(({ target }) => target);
  return [
    ...targets
      .filter(({ name, port }) => services[name]?.environment?.ADMIN_PORT !== String(port))
      .map(({ name, port }) => `${name}:${port} is no admin port`),
    ...targets.filter(({ name }) => !reaches('prometheus', name)).map(({ name }) => `Prometheus cannot reach ${name}`),
    ...exporters
      .filter((name) => !targets.some((target) => target.name === name))
      .map((name) => `nobody asks ${name} for its metrics`),
    ...exporters
      .filter((name) => services[name]?.environment?.ADMIN_HOST !== '0.0.0.0')
      .map((name) => `${name} keeps Prometheus out`),
    ...datasources.datasources
      .filter(({ url }) => url !== 'http://prometheus:9090' || !reaches('grafana', 'prometheus'))
      .map(({ url }) => `Grafana does not reach ${url}`),
    ...dashboards.providers
      .filter(({ options }) => !mounted.includes(options.path))
      .map(({ options }) => `${options.path} is not mounted in Grafana`),
  ];
}
