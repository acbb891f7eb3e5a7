import { totalmem } from 'node:os';
import type { MessageLimits } from '@sluice/sandbox';
import type { Config as ConfigOf } from '@sluice/service-runtime';
import type { BodyBytesOptions } from './body-bytes.ts';
import type { budgetSettings } from './budget-settings.ts';

/** Limits on the work that one invocation may cause. */
export interface Budgets {
  requestTransform: MessageLimits;
  responseTransform: MessageLimits;
  /** Expressions in a held body and in what its transforms detokenize. */
  expressions: number;
  /** Size of the largest result of a transform. */
  resultBytes: number;
}

export type BudgetConfig = ConfigOf<{ type: 'object'; properties: typeof budgetSettings }>;

/** The part of the process's memory that bodies may take. */
const bodyPart = 0.4;

/** The limits by the settings, or else by the memory limit of the cgroup or machine. */
export function bodyBytesFrom(config: BudgetConfig, memoryBytes = memoryLimit()): BodyBytesOptions {
  const processBytes = config.BODY_HELD_BYTES || Math.floor(memoryBytes * bodyPart);
  const tenantBytes = Math.min(config.BODY_HELD_TENANT_BYTES || Math.floor(processBytes / 2), processBytes);
  return { processBytes, tenantBytes, waitMs: config.BODY_WAIT_MS };
}

function memoryLimit(): number {
  const ofCgroup = process.constrainedMemory();
  return ofCgroup > 0 ? Math.min(ofCgroup, totalmem()) : totalmem();
}

export function budgetsFrom(config: BudgetConfig & { TRANSFORM_OUTPUT_BYTES: number }): Budgets {
  const shared = { formPairs: config.FORM_MAX_PAIRS, headerLines: config.TRANSFORM_HEADER_LINES };
  return {
    requestTransform: { ...shared, headerBytes: config.TRANSFORM_REQUEST_HEADER_BYTES },
    responseTransform: { ...shared, headerBytes: config.TRANSFORM_RESPONSE_HEADER_BYTES },
    expressions: config.BODY_MAX_EXPRESSIONS,
    resultBytes: config.TRANSFORM_OUTPUT_BYTES,
  };
}
