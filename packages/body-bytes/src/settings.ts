import { type Config, memoryLimit } from '@sluice/service-runtime';
import { type BodyBytes, bodyBytesOf } from './body-bytes.ts';

export const bodyBytesSettings = {
  BODY_HELD_BYTES: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description:
      'Memory for buffered bodies and responses in one process. If it is full, further requests wait. 0: 40 % of the memory ' +
      'limit in a gateway, 25 % elsewhere',
  },
  BODY_HELD_TENANT_BYTES: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'Memory for buffered bodies and responses of one Tenant in one process. 0: half of BODY_HELD_BYTES',
  },
  BODY_WAIT_MS: {
    type: 'integer',
    minimum: 1,
    default: 20_000,
    description: 'Longest time for which a body or response waits for memory. If it is exceeded, the response is 503',
  },
} as const;

type BodyBytesConfig = Config<{ type: 'object'; properties: typeof bodyBytesSettings }>;

interface OpenOptions {
  part: number;
  requestPart: number;
}

/** For an API: rows, parsed bodies and written answers take about as much memory again until they are collected. */
export const apiPart: OpenOptions = { part: 0.25, requestPart: 0.25 };

export function bodyBytesFrom(config: BodyBytesConfig, { part, requestPart }: OpenOptions): BodyBytes {
  const processBytes = config.BODY_HELD_BYTES || Math.floor(memoryLimit() * part);
  const tenantBytes = Math.min(config.BODY_HELD_TENANT_BYTES || Math.floor(processBytes / 2), processBytes);
  return bodyBytesOf({ processBytes, tenantBytes, requestPart, waitMs: config.BODY_WAIT_MS });
}
