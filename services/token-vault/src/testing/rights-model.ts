import type { AccessRule } from '@sluice/access';

// What a caller may see of a token, worked out from the rules alone and without the code that decides in the service.

export interface ModelCaller {
  key: string;
  permissions: readonly string[];
  rules: readonly AccessRule[];
  authorizer?: ModelCaller;
}

export interface TrueToken {
  containers: readonly string[];
  data?: unknown;
  mask?: unknown;
  search_indexes?: readonly string[];
  fingerprint_expression?: string;
  created_at?: string;
}

/** The levels are nothing, the members without the data, the data masked, and plaintext. */
export type Level = 0 | 1 | 2 | 3;

export interface Sight {
  level: Level;
  isFound: boolean;
}

const levelOf = { redact: 1, mask: 2, reveal: 3 } as const;

/** Containers are `/a/b/` here, so a grant covers what begins with it. */
function transformFor(caller: ModelCaller, permission: string, containers: readonly string[]): Level {
  const reaching = caller.rules.filter(
    ({ container = '/', permissions }) =>
      permissions.includes(permission) && containers.some((inner) => inner.startsWith(container)),
  );
  const [first] = reaching.toSorted((a, b) => a.priority - b.priority);
  const flat = caller.permissions.includes(permission) ? 'mask' : undefined;
  const own = first?.transform ?? flat;
  const level = own ? levelOf[own] : 0;
  if (!caller.authorizer) return level;
  return Math.min(level, transformFor(caller.authorizer, permission, containers)) as Level;
}

export function maySee(caller: ModelCaller, token: TrueToken): Sight {
  const read = transformFor(caller, 'token:read', token.containers);
  const masked = JSON.stringify(token.mask ?? null);
  const isAtEnd = masked.includes('stringify') && !JSON.stringify(token.data).includes('hint');
  const shownByMask: Level = isAtEnd || masked.includes('data.secret') ? 3 : masked.includes('{{') ? 2 : 1;
  const isIndexed = (token.search_indexes ?? []).includes('{{ data.secret }}');
  return {
    level: read === 2 ? shownByMask : read,
    isFound: isIndexed && read > 0 && transformFor(caller, 'token:search', token.containers) > 0,
  };
}

export const mayUse = (caller: ModelCaller, { containers }: TrueToken): boolean =>
  transformFor(caller, 'token:use', containers) > 0;

export const isRevealedTo = (caller: ModelCaller, { containers }: TrueToken): boolean =>
  transformFor(caller, 'token:read', containers) === 3;
