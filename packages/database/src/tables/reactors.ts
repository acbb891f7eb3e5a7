import type { Generated } from 'kysely';

/**
 * A reactor runs its own `code`, or that of its formula, whose `request_parameters` then hold for `args`: exactly one of `code`
 * and `formula_id` is set. A cached reactor has the tags `tagOf.reactor`, `tagOf.tenant` and, with a formula,
 * `tagOf.reactorFormula`.
 */
export interface ReactorsTable {
  tenant_id: string;
  id: string;
  name: string;
  code: string | null;
  formula_id: string | null;
  /** Keeps its value when the Application is deleted. */
  application_id: string | null;
  /** {@link reactorConfiguration} */
  configuration_ciphertext: Buffer | null;
  /** Whether a run that may have called a destination is repeated when its gateway dies. */
  retryable: Generated<boolean>;
  created_by: string | null;
  created_at: Generated<string>;
  modified_by: string | null;
  modified_at: string | null;
}

/**
 * The place of a reactor's configuration, whose `recordId` is the reactor's: JSON of an object with strings, numbers and
 * booleans, in which declared members have their declared type.
 */
export const reactorConfiguration = { purpose: 'proxy_secrets', field: 'reactors.configuration' } as const;
