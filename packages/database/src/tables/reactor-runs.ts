import type { Generated } from 'kysely';

/** The states in which a run has ended are `done`, `failed` and `cancelled`. */
export type ReactorRunState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';

/**
 * An asynchronous run of a reactor. The row is the run; a job in Redis only names it. The gateway that runs it puts its `claim_id`
 * into the condition of every change, so a gateway that has lost the run can change nothing.
 */
export interface ReactorRunsTable {
  tenant_id: string;
  id: string;
  reactor_id: string;
  /** The Application or session that asked. No key is kept: the run has the rights that they have when it runs. */
  created_by: string;
  caller_type: 'application' | 'session';
  trace_id: string;
  /** `CDN-Loop` of the request that asked. */
  cdn_loop: string | null;
  state: Generated<ReactorRunState>;
  /** As the reactor said when the run was asked for. */
  retryable: boolean;
  timeout_ms: number;
  /** How often it has begun. */
  tries: Generated<number>;
  /** Of the try that is running. It is lost when `lease_until` passes. */
  claim_id: string | null;
  lease_until: string | null;
  /** From this moment the run may have called a destination. */
  marked_at: string | null;
  /** {@link runArguments}; null once the run has ended. */
  arguments_ciphertext: Buffer | null;
  /** {@link runResult} */
  result_ciphertext: Buffer | null;
  /** Set instead of a result if the worker ended the run, because only gateways can encrypt a result. */
  failure: 'interrupted' | 'overdue' | null;
  /** {@link runConsole} */
  console_ciphertext: Buffer | null;
  created_at: Generated<string>;
  started_at: string | null;
  ended_at: string | null;
}

/** The place of JSON as it was sent, with its expressions. The `recordId` of these places is the run's. */
export const runArguments = { purpose: 'proxy_secrets', field: 'reactor_runs.arguments' } as const;

/** The place of JSON: what `react` would have answered, or `{ error }` with the problem. */
export const runResult = { purpose: 'proxy_secrets', field: 'reactor_runs.result' } as const;

/** The place of the redacted console. */
export const runConsole = { purpose: 'proxy_secrets', field: 'reactor_runs.console' } as const;

/** Bytes of results and consoles that are kept, of each Tenant. */
export const runBytesCounter = 'reactor_run_bytes';
