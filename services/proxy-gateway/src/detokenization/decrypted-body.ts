import type { Caller } from '@sluice/credentials';
import type { ServiceError } from '@sluice/problems';
import type { Charset } from '@sluice/sandbox';
import type { Json } from '@sluice/vault';
import type { Place } from './place.ts';

export interface Asked {
  tokenIds: readonly string[];
  /** The tokens that at least one expression names without a filter. Undefined means all. */
  needed?: ReadonlySet<string> | undefined;
  /** It is thrown after the caller's rights are checked and before anything is disclosed. */
  fault: ServiceError | undefined;
}

export interface DecryptedTokens {
  caller: Caller;
  tokenIds: readonly string[];
  values: ReadonlyMap<string, Json>;
}

export interface DecryptedBody extends DecryptedTokens {
  body: Buffer;
  places: readonly Place[];
  /** If it is UTF-16, `body` is its UTF-8 form. Undefined for an unknown charset. */
  charset: Charset | undefined;
}
