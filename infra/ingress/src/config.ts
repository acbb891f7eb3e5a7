import { hostSettings, trustedProxySettings } from '@sluice/http-api';
import { httpSettings, serviceSettings } from '@sluice/service-runtime';

const origin = { type: 'string', pattern: '^http://[^/]+/?$' } as const;

export const configSchema = {
  type: 'object',
  properties: {
    ...serviceSettings,
    ...httpSettings,
    ...trustedProxySettings,
    ...hostSettings,
    PORT: { type: 'integer', minimum: 0, maximum: 65_535, default: 8080, description: 'Port of the one base URL' },
    ADMIN_PORT: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      default: 9080,
      description: 'Port of /livez, /readyz and /metrics',
    },
    PROXY_GATEWAY_URL: { ...origin, description: 'Where /proxy, /routes and the hosts of routes go' },
    TOKEN_VAULT_URL: { ...origin, description: 'Where /tokens, /v2/tokens, /tokenize and /detokenize go' },
    MANAGEMENT_API_URL: {
      ...origin,
      description: 'Where everything else goes, the hosts of the console and of the fields included',
    },
  },
  required: ['PROXY_GATEWAY_URL', 'TOKEN_VAULT_URL', 'MANAGEMENT_API_URL'],
} as const;
