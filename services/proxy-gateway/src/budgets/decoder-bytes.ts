import { type BodyBytes, openBodyBytes } from '@sluice/body-bytes';

export const bodyParts = { part: 0.4, requestPart: 0.75 };

/** Half of what a Tenant may hold, and no limit for the process, because `bodyBytes` divides it among Tenants. */
export function openDecoderBytes({ limit, tenantLimit }: BodyBytes, waitMs: number): BodyBytes {
  const config = {
    BODY_HELD_BYTES: 1000 * limit,
    BODY_HELD_TENANT_BYTES: Math.ceil(tenantLimit / 2),
    BODY_WAIT_MS: waitMs,
  };
  return openBodyBytes(config, bodyParts);
}
