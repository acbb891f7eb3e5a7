export interface Wrapping {
  wrapped: Buffer;
  keyId: string;
}

/** What unwrapping needs: the context in which the key was wrapped, and the root key that wrapped it. */
export interface WrappedIn {
  context: string;
  keyId: string;
}

/** Wraps data keys with a root key that never leaves the provider. */
export interface KeyWrapper {
  /**
   * The name of the root key that {@link wrap} uses now; the name reveals nothing about the key.
   * @throws {ServiceError} `unavailable` where the key service is unavailable.
   */
  currentKeyId(): Promise<string>;
  /** Only the same `context` opens it. @throws {ServiceError} `unavailable` where the key service is unavailable. */
  wrap(key: Buffer, context: string): Promise<Wrapping>;
  /**
   * @throws {ServiceError} `unavailable` where the key service is unavailable; another error when the wrapped key was
   * changed, moved to another context, or wrapped by a root key that the settings do not name.
   */
  unwrap(wrapped: Buffer, by: WrappedIn): Promise<Buffer>;
}

export interface RootKeys extends KeyWrapper {
  has(keyId: string): boolean;
}
