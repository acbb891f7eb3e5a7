import { hostSettings, trustedProxySettings } from '@sluice/hosts';
import { httpSettings, serviceSettings } from '@sluice/service-runtime';

const origin = { type: 'string', pattern: '^http://[^/]+/?$', format: 'url' } as const;

export const configSchema = {
  type: 'object',
  properties: {
    ...serviceSettings,
    ...httpSettings,
    ...trustedProxySettings,
    ...hostSettings,
    PORT: { type: 'integer', minimum: 0, maximum: 65_535, default: 8080, description: 'Port to listen on' },
    ADMIN_PORT: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      default: 9080,
      description: 'Port of /livez, /readyz and /metrics',
    },
    PROXY_GATEWAY_URL: {
      ...origin,
      description: 'URL of proxy-gateway, which serves /proxy, /routes, the hosts of routes, and runs of reactors',
    },
    TOKEN_VAULT_URL: {
      ...origin,
      description: 'URL of token-vault, which serves /tokens, /v2/tokens, /tokenize and /detokenize',
    },
    MANAGEMENT_API_URL: {
      ...origin,
      description: 'URL of management-api, which serves all other paths',
    },
  },
  required: ['PROXY_GATEWAY_URL', 'TOKEN_VAULT_URL', 'MANAGEMENT_API_URL'],
} as const;
