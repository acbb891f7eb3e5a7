/** What changed, told to every process that may have cached it. */
export interface Change {
  tenantId: string;
  /** Tags of what to drop, for example `proxy:<id>`; `tenant` drops everything of the Tenant. */
  tags: readonly string[];
}

/** The hash tag keeps the channel in one slot of a Redis Cluster. */
export const channel = '{sluice}:changes';

export function encodeChange(change: Change): string {
  return JSON.stringify(change);
}

/** Undefined for a message that is not ours. */
export function decodeChange(text: string): Change | undefined {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || !('tenantId' in value) || !('tags' in value)) return undefined;
  const { tenantId, tags } = value;
  if (typeof tenantId !== 'string' || !Array.isArray(tags)) return undefined;
  return { tenantId, tags: tags.map(String) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
