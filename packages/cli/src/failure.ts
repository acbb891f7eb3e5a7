import { ConnectionError, SluiceError } from '@sluice/sdk';

export const exitCodes = {
  ...{ done: 0, refused: 1, usage: 2, unreachable: 3 },
  ...{ hungUp: 129, interrupted: 130, terminated: 143 },
} as const;

const codeOfSignal = {
  SIGHUP: exitCodes.hungUp,
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
} as const;

/**
 * The arguments, or a file or variable that they name, are wrong. The message says what, and what to do. Declared
 * again, because the class of @sluice/service-runtime is not packed with the command line.
 */
export class UsageError extends Error {}

/** The command was understood but not carried out; the message says why. */
export class RefusedError extends Error {}

/** Ctrl-C, a terminal that was closed, or the system ended the command. It is not reported, because whoever ended it knows. */
export class Interrupted extends Error {
  readonly code: number;

  constructor(signal: keyof typeof codeOfSignal) {
    super(signal);
    this.code = codeOfSignal[signal];
  }
}

export function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

export function explain(error: unknown): { message?: string; code: number } {
  if (error instanceof Interrupted) return { code: error.code };
  if (error instanceof UsageError) return { message: error.message, code: exitCodes.usage };
  if (error instanceof RefusedError) return { message: error.message, code: exitCodes.refused };
  if (error instanceof ConnectionError) {
    return {
      message: `${error.message}\nCheck that the service is running and that the URL is right. "sluice profiles" shows the URL.`,
      code: exitCodes.unreachable,
    };
  }
  if (error instanceof SluiceError) {
    const lines = [error.message, adviceFor(error), error.help && `Help: ${error.help}`];
    const code = error.status === 503 ? exitCodes.unreachable : exitCodes.refused;
    return { message: lines.filter(Boolean).join('\n'), code };
  }
  throw error;
}

function adviceFor({ status }: SluiceError): string | undefined {
  if (status === 401) return 'The key is not valid. "sluice login" stores another one.';
  if (status === 403) return 'Use another key, or grant the permission with "sluice applications update".';
  if (status === 404)
    return 'The Tenant of the key has no such resource. "sluice <resource> list" shows what there is.';
  if (status === 429) return 'Wait a moment and try again.';
  if (status === 503) return 'The service is unavailable. Try again in a moment.';
  return undefined;
}
