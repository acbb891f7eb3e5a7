export interface Wrapping {
  wrapped: Buffer;
  keyId: string;
}

/** The context in which the key was wrapped, and the root key that wrapped it. */
export interface WrappedIn {
  context: string;
  keyId: string;
}

/**
 * The root key never leaves the provider. Each call throws a {@link ServiceError} `unavailable` where the key service is
 * away.
 */
export interface KeyWrapper {
  /** The name of the root key that {@link wrap} uses now; it reveals nothing about the key. */
  currentKeyId(): Promise<string>;
  /** Only the same `context` opens it. */
  wrap(key: Buffer, context: string): Promise<Wrapping>;
  /**
   * @throws {Error} when the wrapped key was changed, moved to another context, or wrapped by a root key that no setting
   * names.
   */
  unwrap(wrapped: Buffer, by: WrappedIn): Promise<Buffer>;
}

export interface RootKeys extends KeyWrapper {
  has(keyId: string): boolean;
}
