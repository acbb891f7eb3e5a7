import { type Config, listen, type Runtime, type Service } from '@sluice/service-runtime';
import type { configSchema } from './config.ts';
import { createIngress } from './ingress.ts';

/** Listens; resolves with the port. */
export async function start(config: Config<typeof configSchema>, { log, stack, draining }: Runtime): Promise<Service> {
  const server = createIngress({
    origins: {
      'proxy-gateway': new URL(config.PROXY_GATEWAY_URL),
      'token-vault': new URL(config.TOKEN_VAULT_URL),
      'management-api': new URL(config.MANAGEMENT_API_URL),
    },
    headerPrefix: config.HEADER_PREFIX,
    onFailure: (error, upstream) => log.warn({ err: error, upstream }, 'a service did not answer'),
  });
  return { port: await listen(server, { host: config.HOST, port: config.PORT, stack, draining }) };
}
