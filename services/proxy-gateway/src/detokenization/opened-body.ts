import type { Caller } from '@sluice/credentials';
import type { ServiceError } from '@sluice/problems';
import type { Json } from '@sluice/vault';
import type { Place } from './place.ts';

/** The tokens that the expressions of a body, or of a part of it, name. */
export interface Asked {
  tokenIds: readonly string[];
  /** The tokens that at least one expression names without a filter. Undefined means all. */
  needed?: ReadonlySet<string> | undefined;
  /** An invalid expression. It is thrown after the caller's rights are checked and before anything is disclosed. */
  fault: ServiceError | undefined;
}

/** Tokens that were opened for a caller. */
export interface OpenedTokens {
  caller: Caller;
  tokenIds: readonly string[];
  values: ReadonlyMap<string, Json>;
}

/** A body whose expressions have been found, and the tokens that they name. */
export interface OpenedBody extends OpenedTokens {
  body: Buffer;
  places: readonly Place[];
}
