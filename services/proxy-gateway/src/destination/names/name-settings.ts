import type { NamesOptions } from './names.ts';

export const nameSettings = {
  DESTINATION_NAME_SERVERS: {
    type: 'string',
    default: '',
    description:
      'Name servers for destinations, comma separated, as address or address:port; without it those of /etc/resolv.conf. ' +
      'The hosts file and the search list of /etc/resolv.conf count in either case',
  },
  DESTINATION_LOOKUPS_PER_TENANT: {
    type: 'integer',
    minimum: 1,
    default: 4,
    description: 'Most look-ups that one Tenant may have under way in one gateway, for destinations; others wait',
  },
  DESTINATION_NAMES_REMEMBERED: {
    type: 'integer',
    minimum: 1,
    default: 10_000,
    description: 'Most names whose addresses one gateway remembers; the oldest go',
  },
  DESTINATION_NAME_MAX_AGE_SECONDS: {
    type: 'integer',
    minimum: 1,
    default: 30,
    description:
      'The longest that addresses of a name are remembered, whatever its time to live, in seconds; the shortest is 1, as ' +
      'for a name that was not found',
  },
} as const;

export function namesOptionsFrom(config: {
  DESTINATION_NAME_SERVERS: string;
  DESTINATION_LOOKUPS_PER_TENANT: number;
  DESTINATION_NAMES_REMEMBERED: number;
  DESTINATION_NAME_MAX_AGE_SECONDS: number;
}): NamesOptions {
  const servers = config.DESTINATION_NAME_SERVERS.split(',').map((server) => server.trim());
  return {
    servers: servers.filter((server) => server !== ''),
    lookupsPerTenant: config.DESTINATION_LOOKUPS_PER_TENANT,
    maxNames: config.DESTINATION_NAMES_REMEMBERED,
    maxAgeSeconds: config.DESTINATION_NAME_MAX_AGE_SECONDS,
  };
}
