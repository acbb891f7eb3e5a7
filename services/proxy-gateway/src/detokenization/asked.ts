import type { Caller } from '@sluice/credentials';
import type { ServiceError } from '@sluice/problems';
import type { Json } from '@sluice/vault';
import type { Place } from './place.ts';

export interface Asked {
  tokenIds: readonly string[];
  /** Where the request names them. */
  places: readonly Place[];
  /** The tokens that at least one expression names without a filter. Undefined means all. */
  needed?: ReadonlySet<string> | undefined;
  /** It is thrown after the caller's rights are checked and before anything is disclosed. */
  fault: ServiceError | undefined;
}

export interface DecryptedTokens {
  caller: Caller;
  /** With whose rights they were revealed, if not with the caller's. */
  application?: Caller;
  tokenIds: readonly string[];
  /** Those of them whose uses are counted before they are disclosed. */
  limited: readonly string[];
  values: ReadonlyMap<string, Json>;
}
