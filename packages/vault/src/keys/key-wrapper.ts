export interface Wrapping {
  wrapped: Buffer;
  keyId: string;
}

export interface WrappedIn {
  context: string;
  keyId: string;
}

/** The root key never leaves the provider. Calls throw {@link ServiceError} `unavailable` without the key service. */
export interface KeyWrapper {
  /** The root key that {@link wrap} uses now. Its name reveals nothing about it. */
  currentKeyId(): Promise<string>;
  wrap(key: Buffer, context: string): Promise<Wrapping>;
  /**
   * @throws {Error} if the wrapped key was changed, moved to another context, or wrapped by a root key that no setting
   * names.
   */
  unwrap(wrapped: Buffer, by: WrappedIn): Promise<Buffer>;
}

export interface RootKeys extends KeyWrapper {
  has(keyId: string): boolean;
}
