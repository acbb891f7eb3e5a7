import type { MessageLimits } from '@sluice/sandbox';
import type { Config as ConfigOf } from '@sluice/service-runtime';
import type { budgetSettings } from './budget-settings.ts';

export interface Budgets {
  requestTransform: MessageLimits;
  responseTransform: MessageLimits;
  expressions: number;
  resultBytes: number;
}

export type BudgetConfig = ConfigOf<{ type: 'object'; properties: typeof budgetSettings }>;

export function budgetsFrom(config: BudgetConfig & { TRANSFORM_OUTPUT_BYTES: number }): Budgets {
  const shared = { formPairs: config.FORM_MAX_PAIRS, headerLines: config.TRANSFORM_HEADER_LINES };
  return {
    requestTransform: { ...shared, headerBytes: config.TRANSFORM_REQUEST_HEADER_BYTES },
    responseTransform: { ...shared, headerBytes: config.TRANSFORM_RESPONSE_HEADER_BYTES },
    expressions: config.BODY_MAX_EXPRESSIONS,
    resultBytes: config.TRANSFORM_OUTPUT_BYTES,
  };
}
