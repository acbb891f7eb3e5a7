import { ServiceError } from '@sluice/problems';

export interface KeyServiceLog {
  error(detail: object, message: string): void;
  info(detail: object, message: string): void;
}

export interface TransitClientOptions {
  address: string;
  token: string;
  log: KeyServiceLog;
  /** Limit for the whole call, including its second attempt. */
  timeoutMs?: number;
}

interface TransitAnswer {
  status: number;
  data: Readonly<Record<string, unknown>>;
}

export interface TransitClient {
  /** @throws {ServiceError} `unavailable` if the server is unreachable, slow, or refuses our token; the log says why. */
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<TransitAnswer>;
  /** Logs why a response cannot be used. @returns the error to throw. */
  refuse(reason: string, status?: number): ServiceError;
}

const mostBytes = 64 * 1024;

/** The statuses with which the server rejects the request itself. Other errors concern the server or our token. */
const requestFaults = new Set([400, 404, 422]);

/** Tries once more, within the time-out, after a 5xx or a broken connection. Never logs the token. */
export function transitClient(options: TransitClientOptions): TransitClient {
  const { token, log, timeoutMs = 2000 } = options;
  const address = options.address.replace(/\/+$/, '');
  const { refuse, recovered } = watchService(address, log);
  return {
    refuse,
    async call(method, path, body) {
      const signal = AbortSignal.timeout(timeoutMs);
      const init: RequestInit = {
        method,
        signal,
        redirect: 'manual', // the token must not follow a redirect
        headers: { 'X-Vault-Token': token, 'X-Vault-Request': 'true', 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      };
      const url = `${address}/v1/${path}`;
      let answer = await send(url, init);
      if (!signal.aborted && isWorthASecondTry(answer)) answer = await send(url, init);
      if (typeof answer === 'string') throw refuse(answer);
      const { status, text } = answer;
      if (requestFaults.has(status)) return { status, data: {} };
      if (status !== 200) throw refuse(reasonOfStatus(status), status);
      const data = dataOf(text);
      if (!data) throw refuse('the answer is not from a transit engine', status);
      recovered();
      return { status, data };
    },
  };
}

function watchService(address: string, log: KeyServiceLog) {
  let failing: string | undefined;
  return {
    refuse(reason: string, status?: number): ServiceError {
      if (failing !== reason) {
        log.error({ address, reason, ...(status !== undefined && { status }) }, 'the key service cannot be used');
      }
      failing = reason;
      return new ServiceError('unavailable', 'The key service is not available', { retryAfterSeconds: 1 });
    },
    recovered(): void {
      if (failing !== undefined) log.info({ address }, 'the key service is back');
      failing = undefined;
    },
  };
}

/** A string result is the reason why there was no response. */
async function send(url: string, init: RequestInit): Promise<{ status: number; text: string } | string> {
  try {
    const response = await fetch(url, init);
    return { status: response.status, text: await readBounded(response) };
  } catch (error) {
    if (error instanceof TooLong) return error.message;
    return init.signal?.aborted ? 'it did not answer in time' : `the connection failed${codeOf(error)}`;
  }
}

function isWorthASecondTry(answer: { status: number } | string): boolean {
  return typeof answer === 'string' || answer.status >= 500;
}

/** The error's message may quote the request, so only its code is taken. */
function codeOf(error: unknown): string {
  const cause = hasMember(error, 'cause') ? error.cause : error;
  return hasMember(cause, 'code') && typeof cause.code === 'string' ? ` (${cause.code})` : '';
}

function hasMember<K extends string>(value: unknown, name: K): value is Record<K, unknown> {
  return typeof value === 'object' && value !== null && name in value;
}

function reasonOfStatus(status: number): string {
  if (status === 403) return 'VAULT_TOKEN is refused: it has expired, or its policy does not allow this';
  if (status === 429) return 'it limits our rate';
  if (status >= 300 && status < 400) return 'it redirects elsewhere: VAULT_ADDR must name the server itself';
  return `it answers ${status}`;
}

class TooLong extends Error {}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > mostBytes) throw new TooLong(`its answer has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function dataOf(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const data = hasMember(body, 'data') ? body.data : undefined;
    return typeof data === 'object' && data !== null ? { ...data } : undefined;
  } catch {
    return undefined; // the caller reports it
  }
}
