export { DestinationDeniedError, type Resolver } from './lookup.ts';
export { createDestinationPolicy, type DestinationPolicy, type DestinationRules, type UrlVerdict } from './policy.ts';
export { destinationPolicyFrom, destinationSettings } from './settings.ts';
