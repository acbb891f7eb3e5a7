/** All that a span may say besides name and times: no header, query, path with ids, key, value or text of an error. */
export interface SpanFacts {
  tenantId?: string | undefined;
  proxyId?: string | undefined;
  method?: string | undefined;
  /** `/tokens/:id` */
  route?: string | undefined;
  status?: number | undefined;
  /** A code of this service, of Postgres or of the system. */
  errorCode?: string | undefined;
  tokens?: number | undefined;
  cpuMs?: number | undefined;
}

const attributeNames: Readonly<Record<keyof SpanFacts, string>> = {
  tenantId: 'sluice.tenant_id',
  proxyId: 'sluice.proxy_id',
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  errorCode: 'error.type',
  tokens: 'sluice.tokens',
  cpuMs: 'sluice.cpu_ms',
};

export function toAttributes(facts: SpanFacts): Record<string, string | number> {
  const attributes: Record<string, string | number> = {};
  for (const name of Object.keys(attributeNames) as (keyof SpanFacts)[]) {
    const fact = facts[name];
    if (fact !== undefined) attributes[attributeNames[name]] = fact;
  }
  return attributes;
}

const codePattern = /^[A-Za-z0-9_]{1,40}$/;

/** Code or name, never the message, which may quote a value. */
export function errorCodeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown';
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.name;
  return codePattern.test(code) ? code : 'unknown';
}
