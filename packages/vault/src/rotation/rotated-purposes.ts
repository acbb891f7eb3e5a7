import type { KeyPurpose } from '../keys/data-key.queries.ts';

/**
 * Not keys of hashes, because then equal values would differ. Stored responses expire after a day, so they are not
 * encrypted anew.
 */
export const rotatedPurposes = ['token_data', 'proxy_secrets', 'idempotency'] as const satisfies KeyPurpose[];

export type RotatedPurpose = (typeof rotatedPurposes)[number];
