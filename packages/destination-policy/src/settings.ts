import { type DestinationPolicy, destinationPolicy } from './policy.ts';

export const destinationSettings = {
  DESTINATION_SCHEMES: {
    type: 'string',
    default: 'https',
    description: 'Allowed schemes of destinations, comma separated: https, http',
  },
  DESTINATION_ALLOW: {
    type: 'string',
    default: '',
    description:
      'Destinations that are allowed besides public addresses, comma separated: addresses, CIDR ranges, host names, *.example.com, and ' +
      'the words loopback, private, single-label',
  },
  DESTINATION_DENY: {
    type: 'string',
    default: '',
    description:
      'Destinations that are refused even if DESTINATION_ALLOW has them. It has the form of DESTINATION_ALLOW',
  },
  DESTINATION_CA_FILE: {
    type: 'string',
    description: 'PEM file with additional certificate authorities to trust',
  },
} as const;

/** @throws {Error} that names the setting and the invalid entry. */
export function destinationPolicyFrom(config: {
  DESTINATION_SCHEMES: string;
  DESTINATION_ALLOW: string;
  DESTINATION_DENY: string;
}): DestinationPolicy {
  return destinationPolicy({
    schemes: list(config.DESTINATION_SCHEMES),
    allow: list(config.DESTINATION_ALLOW),
    deny: list(config.DESTINATION_DENY),
  });
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
