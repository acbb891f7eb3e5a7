import type { Proxy as ProxyResource } from '@sluice/sdk';

/** A Proxy as lines to compare: settings, then code. Leaves out the members that the service sets. */
export function textOf(proxy: ProxyResource): string {
  const { request_transform: request, response_transform: response, ...settings } = proxy;
  const unchanged = new Set(['id', 'tenant_id', 'key', 'created_at', 'created_by', 'modified_at', 'modified_by']);
  const named = Object.entries(settings).filter(([name]) => !unchanged.has(name));
  const compared = Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
  return [
    JSON.stringify(compared, null, 2),
    '',
    '// Request transform',
    request?.code ?? '// none',
    '',
    '// Response transform',
    response?.code ?? '// none',
    '',
  ].join('\n');
}
