/** Options of a client. */
export interface SluiceOptions {
  /** For example `https://sluice.example.com`. */
  baseUrl: string;
  /** The API key of an Application; in browsers only that of a public Application. */
  apiKey: string;
  /** The prefix of the service's own headers; default `SVC`. */
  headerPrefix?: string;
  /** For a whole call, including retries and waits; default 30,000. */
  timeoutMs?: number;
  /** Attempts after the first; default 2. */
  retries?: number;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

/** The checked options. The key is not a member, so that showing the object does not show the key. */
export interface Settings {
  /** Without a trailing slash. */
  baseUrl: string;
  headerPrefix: string;
  timeoutMs: number;
  retries: number;
  fetch: typeof fetch;
  /** New headers that contain the key. */
  headers(): Headers;
}

/** @throws {TypeError} that names the option and never repeats the key. */
export function readOptions(options: SluiceOptions): Settings {
  const { baseUrl, apiKey, headerPrefix = 'SVC', timeoutMs = 30_000, retries = 2 } = options;
  check(typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey), 'apiKey must be an API key, without blanks');
  check(/^[A-Za-z][A-Za-z0-9-]*$/.test(headerPrefix), 'headerPrefix must be letters, digits and dashes');
  checkBounds({ timeoutMs, retries });
  // Called as a function of the global object, because browsers refuse fetch as a method of another object.
  const given = options.fetch;
  return {
    baseUrl: readBaseUrl(baseUrl),
    headerPrefix,
    timeoutMs,
    retries,
    fetch: given ? (input, init) => given(input, init) : (input, init) => globalThis.fetch(input, init),
    headers: () => new Headers({ [`${headerPrefix}-API-KEY`]: apiKey }),
  };
}

/**
 * Timers fire at once where they are given more than 2^31 - 1 ms, so a call without a limit would fail after it was sent.
 * @throws {TypeError} that names the option.
 */
export function checkBounds({ timeoutMs, retries }: { timeoutMs: number; retries: number }): void {
  check(timeoutMs > 0 && timeoutMs < 2 ** 31, 'timeoutMs must be a positive number below 2^31');
  check(Number.isInteger(retries) && retries >= 0, 'retries must be an integer from 0');
}

function check(isValid: boolean, message: string): void {
  if (!isValid) throw new TypeError(message);
}

function readBaseUrl(text: string): string {
  const message = 'baseUrl must be like https://sluice.example.com: no user, query or fragment';
  if (!URL.canParse(text)) throw new TypeError(message);
  const { protocol, origin, pathname, username, password, search, hash } = new URL(text);
  if (!/^https?:$/.test(protocol) || username || password || search || hash) throw new TypeError(message);
  return origin + pathname.replace(/\/+$/, '');
}
