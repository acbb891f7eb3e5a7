import type { AtOnceOrLater } from '@sluice/cache-coherence';
import type { ServiceError } from '@sluice/problems';
import type { Json } from '@sluice/vault';
import type { RequestMessage } from '../../http/message.ts';
import type { Invocation } from '../../proxies/invocation.ts';
import type { Place } from '../place.ts';

/** A part of a message in which expressions were found, or can appear while it streams. */
export interface Part<Context> {
  /** The kinds of its places, as the log of disclosures lists them: `body`, `header:x-card`. */
  readonly names: readonly string[];
  readonly places: readonly Place[];
  /** Why the part takes no values. It is thrown after the caller's rights are checked. */
  fault?(): ServiceError | undefined;
  /** The message with the values in this part. @throws {ServiceError} if a place cannot hold its value. */
  fill(message: RequestMessage, filling: Filling, context: Context): AtOnceOrLater<RequestMessage>;
}

export interface Filling {
  invocation: Invocation;
  values: ReadonlyMap<string, Json>;
  /** Tokens that the request reveals with other rights. They count against the same limit. */
  otherTokens: ReadonlySet<string>;
}
