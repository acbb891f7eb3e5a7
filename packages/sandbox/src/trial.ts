import { errorCodes, type FieldErrors, ServiceError } from '@sluice/problems';
import { CustomHttpResponse } from './custom-http-response.ts';
import { TransformStopped, TransformThrew } from './failure.ts';
import type { TransformPool } from './pool.ts';
import { nothingHidden, runCode } from './run-code.ts';
import type { ConsoleLine, TransformResult, TransformTask, TransformUsage } from './transform-task.ts';

/** Of code that belongs to no Proxy yet: without destination, and nothing of it is kept. */
export interface TrialTask {
  tenantId: string;
  kind: 'request' | 'response';
  code: string;
  /** `req.args`; members of an empty request or response are filled in. */
  args: Readonly<Record<string, unknown>>;
  configuration: Record<string, string>;
  /** Stands in for the client, which is absent without it. */
  host?: NonNullable<TransformTask['host']>;
}

/** Of code that belongs to no reactor yet: without client, and its `fetch` rejects. */
export interface ReactorTrialTask {
  tenantId: string;
  code: string;
  /** `req.args`; any JSON. */
  args: unknown;
  configuration: Readonly<Record<string, unknown>>;
}

interface Trial<Result> {
  result?: Result;
  error?: TrialError;
  console: ConsoleLine[];
  durationMs: number;
  /** Undefined when the thread had to be ended. */
  cpuMs: number | undefined;
}

export type TransformTrial = Trial<{ body?: unknown; headers?: unknown }>;
export type ReactorTrial = Trial<{ raw?: unknown; body?: unknown; headers?: unknown; tokenize?: unknown }>;

/** As the caller would get it. */
export interface TrialError {
  status: number;
  title: string;
  detail?: string;
  errors?: FieldErrors;
  /** Where the code threw, counted from 1. */
  line?: number;
  column?: number;
  stopped_by?: string;
  /** Only of a `CustomHttpResponseError`, like `body`. */
  headers?: unknown;
  body?: unknown;
}

/** Errors of the code are part of the answer. @throws {ServiceError} `unavailable` when too much waits. */
export function tryTransform(pool: TransformPool, task: TrialTask): Promise<TransformTrial> {
  const { tenantId, kind, code, host } = task;
  const argsJson = JSON.stringify(completeArgs(kind, task.args));
  return tryOnce(pool, { tenantId, kind, code, argsJson, ...configured(task), ...(host && { host }) }, (result) => ({
    ...parsed('body', result.bodyJson),
    ...parsed('headers', result.headersJson),
  }));
}

/** As {@link tryTransform}. `tokenize` is what the code returned. */
export function tryReactor(pool: TransformPool, task: ReactorTrialTask): Promise<ReactorTrial> {
  const { tenantId, code } = task;
  const argsJson = JSON.stringify(task.args);
  return tryOnce(pool, { tenantId, kind: 'reactor', code, argsJson, ...configured(task) }, (result) => ({
    ...JSON.parse(result.bodyJson ?? '{}'),
    ...parsed('tokenize', result.tokenizeJson),
  }));
}

function configured({ configuration }: Pick<ReactorTrialTask, 'configuration'>): Pick<TransformTask, 'configuration'> {
  return { configuration: async () => JSON.stringify(configuration) };
}

async function tryOnce<Result>(
  pool: TransformPool,
  task: Omit<TransformTask, 'ownerId' | 'once' | 'onEnd'>,
  resultOf: (result: TransformResult) => Result,
): Promise<Trial<Result>> {
  let usage: Omit<TransformUsage, 'configurationJson'> = { console: [], cpuMs: undefined, durationMs: 0 };
  const onEnd = ({ configurationJson: _, ...used }: TransformUsage) => {
    usage = used;
  };
  try {
    const run = { ...task, ownerId: 'trial', once: true, redaction: nothingHidden, onEnd };
    const result = resultOf(await runCode(pool, run));
    return { result, ...usage };
  } catch (thrown) {
    return { error: describe(thrown), ...usage };
  }
}

/** As the gateway gives them: header names in lower case, and always a body. */
function completeArgs(kind: TrialTask['kind'], args: TrialTask['args']): object {
  const { body = {}, headers, ...rest } = args;
  const request = kind === 'request' ? { method: 'POST', path: '', query: '' } : {};
  return { body, headers: lowerCase(headers), ...request, ...rest };
}

function lowerCase(headers: unknown): object {
  if (typeof headers !== 'object' || headers === null) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function parsed(member: 'body' | 'headers' | 'tokenize', json: string | undefined): object {
  return json === undefined ? {} : { [member]: JSON.parse(json) };
}

function describe(thrown: unknown): TrialError {
  if (thrown instanceof CustomHttpResponse) {
    const { status, headersJson, bodyJson } = thrown;
    return { status, title: 'CustomHttpResponseError', ...parsed('headers', headersJson), ...parsed('body', bodyJson) };
  }
  if (!(thrown instanceof ServiceError) || thrown.code === 'unavailable') throw thrown;
  const { status, code, detail, errors, cause } = thrown;
  return {
    status,
    title: errorCodes[code].title,
    detail,
    ...(errors && { errors }),
    ...(cause instanceof TransformThrew && cause.place),
    ...(cause instanceof TransformStopped && { stopped_by: cause.limit }),
  };
}
