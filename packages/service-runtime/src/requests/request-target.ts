const absoluteForm = /^https?:\/\/([^/?#]+)([/?].*)?$/is;

/** Detail of the error if {@link pathOfTarget} returns undefined. */
export const targetFault = 'The request target must be a path, or a URL with the same host and port as the Host header';

/**
 * Path and query, byte for byte; undefined for any other target. The authority of an absolute form must equal `Host`,
 * because readers could otherwise take the request for different hosts (RFC 9112 section 3.2.2).
 */
export function pathOfTarget(target: string, host: string | undefined): string | undefined {
  if (target.startsWith('/')) return target;
  const [, authority, rest = ''] = absoluteForm.exec(target) ?? [];
  if (authority === undefined || authority.toLowerCase() !== host?.toLowerCase()) return undefined;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
