export { DestinationDeniedError, type Resolver } from './lookup.ts';
export { type DestinationPolicy, type DestinationRules, destinationPolicy, type UrlVerdict } from './policy.ts';
export { destinationPolicyFrom, destinationSettings } from './settings.ts';
