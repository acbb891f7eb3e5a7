import { errorCodes, type FieldErrors, ServiceError } from '@sluice/problems';
import { CustomHttpResponse } from './custom-http-response.ts';
import { TransformStopped, TransformThrew } from './failure.ts';
import type { TransformPool } from './pool.ts';
import type { ConsoleLine, TransformUsage } from './transform-task.ts';

/** Of code that belongs to no Proxy yet: without client and destination, and nothing of it is kept. */
export interface TrialTask {
  tenantId: string;
  kind: 'request' | 'response';
  code: string;
  /** `req.args`; members of an empty request or response are filled in. */
  args: Readonly<Record<string, unknown>>;
  configuration: Record<string, string>;
}

export interface TransformTrial {
  result?: { body?: unknown; headers?: unknown };
  error?: TrialError;
  console: ConsoleLine[];
  durationMs: number;
  /** Undefined when the thread had to be ended. */
  cpuMs: number | undefined;
}

/** As the caller of a Proxy would get it. */
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
export async function tryTransform(pool: TransformPool, task: TrialTask): Promise<TransformTrial> {
  const { tenantId, kind, code } = task;
  const configuration = async () => JSON.stringify(task.configuration);
  let usage: Omit<TransformUsage, 'configurationJson'> = { console: [], cpuMs: undefined, durationMs: 0 };
  const argsJson = JSON.stringify(completeArgs(kind, task.args));
  const onEnd = ({ configurationJson: _, ...used }: TransformUsage) => {
    usage = used;
  };
  try {
    const run = { tenantId, proxyId: 'trial', kind, code, argsJson, configuration, once: true, onEnd } as const;
    const { bodyJson, headersJson } = await pool.run(run);
    const result = { ...parsed('body', bodyJson), ...parsed('headers', headersJson) };
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

function parsed(member: 'body' | 'headers', json: string | undefined): object {
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
