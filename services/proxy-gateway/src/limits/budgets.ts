import type { MessageLimits } from '@sluice/sandbox';
import type { Config } from '../config.ts';

export interface Budgets {
  requestTransform: MessageLimits;
  responseTransform: MessageLimits;
  expressions: number;
  resultBytes: number;
}

type BudgetConfig = Pick<
  Config,
  | 'BODY_MAX_EXPRESSIONS'
  | 'FORM_MAX_PAIRS'
  | 'TRANSFORM_HEADER_LINES'
  | 'TRANSFORM_OUTPUT_BYTES'
  | 'TRANSFORM_REQUEST_HEADER_BYTES'
  | 'TRANSFORM_RESPONSE_HEADER_BYTES'
>;

export function budgetsFrom(config: BudgetConfig): Budgets {
  const shared = { formPairs: config.FORM_MAX_PAIRS, headerLines: config.TRANSFORM_HEADER_LINES };
  return {
    requestTransform: { ...shared, headerBytes: config.TRANSFORM_REQUEST_HEADER_BYTES },
    responseTransform: { ...shared, headerBytes: config.TRANSFORM_RESPONSE_HEADER_BYTES },
    expressions: config.BODY_MAX_EXPRESSIONS,
    resultBytes: config.TRANSFORM_OUTPUT_BYTES,
  };
}
