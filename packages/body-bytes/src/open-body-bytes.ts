import { totalmem } from 'node:os';
import type { Config } from '@sluice/service-runtime';
import { type BodyBytes, createBodyBytes } from './body-bytes.ts';
import type { bodyBytesSettings } from './settings.ts';

type BodyBytesConfig = Config<{ type: 'object'; properties: typeof bodyBytesSettings }>;

interface OpenOptions {
  /** The part of the process's memory limit that is the room where no setting says otherwise. */
  part: number;
  /** The part of the room that request bodies may take; the rest is for answers. */
  requestPart: number;
}

/**
 * Of a service with an API. What it reads from Postgres, parses and writes takes about as much again until it is
 * collected. A body has about 1 MiB, an answer shows up to 8.
 */
export const apiPart: OpenOptions = { part: 0.25, requestPart: 0.25 };

/** Limited by the settings, or else by the memory limit of the cgroup or machine. */
export function openBodyBytes(config: BodyBytesConfig, { part, requestPart }: OpenOptions): BodyBytes {
  const processBytes = config.BODY_HELD_BYTES || Math.floor(memoryLimit() * part);
  const tenantBytes = Math.min(config.BODY_HELD_TENANT_BYTES || Math.floor(processBytes / 2), processBytes);
  return createBodyBytes({ processBytes, tenantBytes, requestPart, waitMs: config.BODY_WAIT_MS });
}

function memoryLimit(): number {
  const ofCgroup = process.constrainedMemory();
  return ofCgroup > 0 ? Math.min(ofCgroup, totalmem()) : totalmem();
}
