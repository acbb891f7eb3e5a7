/** Options of a client: of one with an API key, or of the console's own pages. */
export type SluiceOptions = KeyOptions | ConsoleOptions;

interface KeyOptions extends CommonOptions {
  /** For example `https://sluice.example.com`. */
  baseUrl: string;
  /** The API key of an Application; in browsers only that of a public Application. */
  apiKey: string;
  console?: false;
}

/** The browser sends the cookie of the sign-in, and no page of another origin can use it. */
interface ConsoleOptions extends CommonOptions {
  /** Calls `/api` of the page's own origin by its cookie, without a key. */
  console: true;
  /** Default: the origin of the page. */
  baseUrl?: string;
}

interface CommonOptions {
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
  /** Where the installation serves its documentation. */
  docsUrl: string;
  headerPrefix: string;
  timeoutMs: number;
  retries: number;
  fetch: typeof fetch;
  /** New headers that contain the key, or say that a page of the console sends them. */
  headers(): Headers;
}

/** @throws {TypeError} that names the option and never repeats the key. */
export function readOptions(options: SluiceOptions): Settings {
  const { headerPrefix = 'SVC', timeoutMs = 30_000, retries = 2 } = options;
  check(/^[A-Za-z][A-Za-z0-9-]*$/.test(headerPrefix), 'headerPrefix must be letters, digits and dashes');
  checkBounds({ timeoutMs, retries });
  // Called as a function of the global object, because browsers refuse fetch as a method of another object.
  const given = options.fetch;
  return {
    ...readAccess(options, headerPrefix),
    headerPrefix,
    timeoutMs,
    retries,
    fetch: given ? (input, init) => given(input, init) : (input, init) => globalThis.fetch(input, init),
  };
}

function readAccess(options: SluiceOptions, headerPrefix: string): Pick<Settings, 'baseUrl' | 'docsUrl' | 'headers'> {
  if (options.console) {
    const site = readBaseUrl(options.baseUrl ?? originOfPage());
    const [baseUrl, docsUrl] = [`${site}/api`, `${site}/docs`];
    return { baseUrl, docsUrl, headers: () => new Headers({ [`${headerPrefix}-CONSOLE`]: '1' }) };
  }
  const { apiKey } = options;
  check(typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey), 'apiKey must be an API key, without blanks');
  const baseUrl = readBaseUrl(options.baseUrl);
  return { baseUrl, docsUrl: `${baseUrl}/docs`, headers: () => new Headers({ [`${headerPrefix}-API-KEY`]: apiKey }) };
}

/** Empty outside of browsers, which need `baseUrl`. */
function originOfPage(): string {
  const { location } = globalThis as { location?: { origin: string } };
  return location?.origin ?? '';
}

/**
 * Timers fire at once if given more than 2^31 - 1 ms, so a call meant to have no limit would fail after it was sent.
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
