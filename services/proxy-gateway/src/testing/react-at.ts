export interface Reaction {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

interface Asked {
  id: string;
  key: string | undefined;
  /** A text is sent as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

export async function reactAt(url: string, { id, key, body, headers = {} }: Asked): Promise<Reaction> {
  const sent = { 'Content-Type': 'application/json', ...(key !== undefined && { 'SVC-API-KEY': key }), ...headers };
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const init = { method: 'POST', headers: sent, ...(text !== undefined && { body: text }) };
  const response = await fetch(`${url}/reactors/${id}/react`, init);
  return { status: response.status, body: (await response.json()) as Reaction['body'], headers: response.headers };
}
