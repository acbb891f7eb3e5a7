/** A data key as it is stored, and the root key that wrapped it. */
export interface Wrapping {
  wrapped: Buffer;
  keyId: string;
}

/** What a wrapped key must be opened with: the context that it was wrapped in, and the root key that did it. */
export interface WrappedIn {
  context: string;
  keyId: string;
}

/** Where the root key is: it wraps data keys and never leaves. */
export interface KeyWrapper {
  /**
   * Names the root key that {@link wrap} uses now. It says nothing about the key.
   * @throws {ServiceError} `unavailable` where a key service is away.
   */
  currentKeyId(): Promise<string>;
  /**
   * Encrypts a data key. Only the same `context` opens it again.
   * @throws {ServiceError} `unavailable` where a key service is away.
   */
  wrap(key: Buffer, context: string): Promise<Wrapping>;
  /**
   * @throws {ServiceError} `unavailable` where a key service is away; another error when the wrapped key was changed,
   * moved to another context, or wrapped by a root key that the settings do not name.
   */
  unwrap(wrapped: Buffer, by: WrappedIn): Promise<Buffer>;
}

/** The root keys of one provider. */
export interface RootKeys extends KeyWrapper {
  /** Whether the root key of this id is one of them. */
  has(keyId: string): boolean;
}
