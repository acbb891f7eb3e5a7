import type { Caller } from '@sluice/credentials';
import type { Json } from '@sluice/vault';
import type { Place } from './place.ts';

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
