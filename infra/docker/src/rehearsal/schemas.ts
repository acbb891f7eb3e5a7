import { configSchema as managementApi } from '../../../../services/management-api/src/config.ts';
import { configSchema as proxyGateway } from '../../../../services/proxy-gateway/src/config.ts';
import { configSchema as tokenVault } from '../../../../services/token-vault/src/config.ts';
import { configSchema as worker } from '../../../../services/worker/src/config.ts';
import { configSchema as ingress } from '../../../ingress/src/config.ts';
import { migrateSchema, secretsSchema, setupSchema } from '../config.ts';

/** Of the settings of every service whose image is ours. */
export const schemas = {
  secrets: secretsSchema,
  migrate: migrateSchema,
  setup: setupSchema,
  'management-api': managementApi,
  'token-vault': tokenVault,
  'proxy-gateway': proxyGateway,
  worker,
  ingress,
};
