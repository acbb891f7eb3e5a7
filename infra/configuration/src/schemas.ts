import type { ConfigSchema } from '@sluice/service-runtime';
import { configSchema as managementApi } from '../../../services/management-api/src/config.ts';
import { configSchema as proxyGateway } from '../../../services/proxy-gateway/src/config.ts';
import { configSchema as tokenVault } from '../../../services/token-vault/src/config.ts';
import { configSchema as worker } from '../../../services/worker/src/config.ts';
import { configSchema as ingress } from '../../ingress/src/config.ts';

/** The configuration schema of each process, by its name. */
export type Schemas = Readonly<Record<string, ConfigSchema>>;

export const schemas: Schemas = {
  ingress,
  'management-api': managementApi,
  'proxy-gateway': proxyGateway,
  'token-vault': tokenVault,
  worker,
};
