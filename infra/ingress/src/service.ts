import { addressReader, hostsFrom } from '@sluice/hosts';
import { type Config, exportCounter, listen, type Runtime, type Service } from '@sluice/service-runtime';
import type { configSchema } from './config.ts';
import { createIngressServer } from './ingress.ts';

/** Starts listening. Resolves with the port. */
export async function start(
  config: Config<typeof configSchema>,
  { log, stack, draining, metrics }: Runtime,
): Promise<Service> {
  const failures = { 'management-api': 0, 'proxy-gateway': 0, 'token-vault': 0 };
  exportCounter(metrics, {
    name: 'sluice_ingress_failures_total',
    help: 'Requests that got no response from the service behind the ingress',
    by: 'upstream',
    read: () => failures,
  });
  const server = createIngressServer({
    origins: {
      'proxy-gateway': new URL(config.PROXY_GATEWAY_URL),
      'token-vault': new URL(config.TOKEN_VAULT_URL),
      'management-api': new URL(config.MANAGEMENT_API_URL),
    },
    headerPrefix: config.HEADER_PREFIX,
    hostOf: hostsFrom(config, log),
    addressOf: addressReader(config.TRUSTED_PROXIES),
    onFailure: (error, upstream) => {
      failures[upstream] += 1;
      log.warn({ err: error, upstream }, 'a service did not answer');
    },
  });
  return { port: await listen(server, { host: config.HOST, port: config.PORT, stack, draining }) };
}
