export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and a wrong look fails the test
  body: any;
}

export interface CallOptions {
  key?: string;
  /** Sent as JSON; a string goes as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

export async function call(url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const response = await sendRequest(url, method, path, options);
  const text = await response.text();
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}

/** The same with the answer as it comes. */
export function sendRequest(url: string, method: string, path: string, options: CallOptions): Promise<Response> {
  const { key, body, headers = {} } = options;
  return fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(key !== undefined && { 'SVC-API-KEY': key }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
