import { LaunchError } from '../launch-error.ts';

export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

export interface ClientOptions {
  baseUrl: string;
  key: string;
  /** For example `SVC`. */
  headerPrefix: string;
}

export type Client = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

/** Calls the API as a program of a user would. */
export function createClient({ baseUrl, key, headerPrefix }: ClientOptions): Client {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { [`${headerPrefix}-API-KEY`]: key, 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
}

/** The body of an answer that must be a success. */
export function expectSuccess<T>({ status, body }: Answer, what: string): T {
  if (status >= 200 && status < 300) return body as T;
  throw new LaunchError(`${what} failed with status ${status}: ${JSON.stringify(body)}`);
}
