import type { MessageLimits } from '@sluice/sandbox';
import type { Config as ConfigOf } from '@sluice/service-runtime';
import type { budgetSettings } from './budget-settings.ts';

/** What one invocation may make the gateway take apart. */
export interface Budgets {
  requestTransform: MessageLimits;
  responseTransform: MessageLimits;
}

export type BudgetConfig = ConfigOf<{ type: 'object'; properties: typeof budgetSettings }>;

/** The budgets that the settings say. */
export function budgetsFrom(config: BudgetConfig): Budgets {
  const shared = { formPairs: config.FORM_MAX_PAIRS, headerLines: config.TRANSFORM_HEADER_LINES };
  return {
    requestTransform: { ...shared, headerBytes: config.TRANSFORM_REQUEST_HEADER_BYTES },
    responseTransform: { ...shared, headerBytes: config.TRANSFORM_RESPONSE_HEADER_BYTES },
  };
}
