/** What a token may be used for: all members that are set must hold. As stored, see `readTokenUse`. */
export type TokenUse = {
  /** Ids of Proxies. */
  proxies?: string[];
  /** Hosts without a port, or `*.` before labels for all hosts below them. */
  destinations?: string[];
  methods?: string[];
  /** `body`, `query`, `path`, `header:<name>`. */
  places?: string[];
  max_uses?: number;
  /** ISO 8601, UTC. */
  until?: string;
};

export type UseMember = keyof TokenUse;

/** Tokens with `max_uses` whose use an invocation or a run counts, by id; each resolves once it is counted. */
export type CountedUses = Map<string, Promise<void>>;

const pattern = '*.';

/** Whether all hosts that `inner` names are among those that `outer` names. Both are a host or a pattern. */
export function coversHost(outer: string, inner: string): boolean {
  if (outer === inner) return true;
  return outer.startsWith(pattern) && inner.endsWith(outer.slice(1)) && inner !== outer.slice(1);
}

/** `Example.com.` → `example.com`, `::1` → `[::1]`, as a `URL` writes them. Undefined if it is no host or pattern. */
export function canonicalHost(text: string): string | undefined {
  const isAddress = text.includes(':') && !text.startsWith('[');
  const written = isAddress ? `[${text}]` : text;
  if (!/^(?:\[[0-9a-f:.]+\]|(?:\*\.)?[^\s*:/?#@\\[\]]+)$/i.test(written)) return undefined;
  const host = URL.parse(`http://${written}`)?.hostname.replace(/\.$/, '');
  return host === undefined || host === '' || host === '*' || host.startsWith('.') ? undefined : host;
}
