/** The fields `number`, `expiry` and `cvc` make a card. `card` has all three in one frame. */
export type EntryKind = 'number' | 'expiry' | 'cvc' | 'card' | 'text';
export type Kind = EntryKind | 'reveal';

export type StyleName =
  | 'color'
  | 'background-color'
  | 'font-family'
  | 'font-size'
  | 'font-weight'
  | 'font-style'
  | 'letter-spacing'
  | 'line-height'
  | 'text-align'
  | 'padding'
  | 'caret-color'
  | 'opacity'
  | 'text-shadow';

/** CSS values of at most 200 characters, without URLs. */
export type Style = Partial<Record<StyleName, string>>;

/** How a field looks. By default, color and font are those of the element around the field. */
export interface Theme {
  base?: Style | undefined;
  /** While the field has the focus. */
  focus?: Style | undefined;
  placeholder?: Style | undefined;
  /** After a person has left the field with an incomplete or wrong value. */
  invalid?: Style | undefined;
}

/** Texts in a field, for languages other than English. */
export interface Words {
  number?: string | undefined;
  expiry?: string | undefined;
  cvc?: string | undefined;
  show?: string | undefined;
  hide?: string | undefined;
  copy?: string | undefined;
  copied?: string | undefined;
  failed?: string | undefined;
}

/** Options that `Field.update` can change. */
export interface Changeable {
  /** Name of the field for screen readers. */
  title?: string | undefined;
  /** In a `card`: the placeholder of the number. */
  placeholder?: string | undefined;
  theme?: Theme | undefined;
  disabled?: boolean | undefined;
}

export interface FieldOptions extends Changeable {
  title: string;
  /** An element, or its selector. A click on it focuses the field. */
  label?: Element | string | undefined;
  words?: Words | undefined;
}

export interface TextOptions extends FieldOptions {
  /** The member of the token's data that has the text. Required if several texts make one token. */
  name?: string | undefined;
  /** 9 stands for a digit, a for a letter, * for either. Other characters are shown as they are. */
  mask?: string | undefined;
  /** A regular expression (flag `v`) that the whole text must match. */
  pattern?: string | undefined;
}

/** Sends the nonce to the page's own server, which authorizes the session. Resolves after the server has authorized it. */
export type Authorize = (nonce: string) => Promise<unknown>;

export interface RevealOptions extends FieldOptions {
  /** Id of the token. */
  token: string;
  authorize: Authorize;
}

export interface OptionsByKind {
  number: FieldOptions;
  expiry: FieldOptions;
  cvc: FieldOptions;
  card: FieldOptions;
  text: TextOptions;
  reveal: RevealOptions;
}

export interface Change {
  empty: boolean;
  complete: boolean;
  /** Network of the card. Present in `number` and `card` when the number is complete. */
  brand?: string;
  /** Last four digits. Present if `brand` is, and if no digit can follow: the number has its full length, or the person has left the field. */
  last4?: string;
}

/** Why a request or a field failed. */
export interface Problem {
  /** HTTP status. Absent if there was no response. */
  status?: number;
  title: string;
  detail?: string;
  /** Messages by the path of the wrong member. */
  errors?: Record<string, string[]>;
  retryAfterSeconds?: number;
  /** Kinds of the fields that are not complete. For texts: their names. */
  fields?: string[];
}

/** The error of `tokenize` and `update`. Its message is the detail, or the title if there is no detail. It never contains a value. */
export interface FieldsError extends Error, Problem {}

export interface FieldEvents {
  focus: undefined;
  blur: undefined;
  change: Change;
  /** The person pressed Enter. */
  submit: undefined;
  error: Problem;
}

export interface Field {
  /** Resolves when the field can be used. Rejects if the frame has not loaded after 10 seconds. A frame that loads later still works. */
  readonly ready: Promise<void>;
  /** @returns a function that removes the listener. */
  on<N extends keyof FieldEvents>(name: N, listener: (event: FieldEvents[N]) => void): () => unknown;
  focus(): void;
  clear(): void;
  update(changes: Changeable): void;
  unmount(): void;
}

export interface TokenizeOptions {
  /** Type of the token. Default: `card`, or `token` if the fields are texts. */
  type?: string | undefined;
  metadata?: Record<string, string> | undefined;
  containers?: string[] | undefined;
}

/** A token as in the response of the vault, without its data. */
export interface Token {
  id: string;
  type: string;
  containers: string[];
  mask?: unknown;
  metadata?: Record<string, string>;
  fingerprint?: string;
  [member: string]: unknown;
}

export interface Fields {
  /**
   * Adds a field to the target, which is an element or its selector. A field that is already there is removed.
   * @throws {Error} if the target does not exist, or if the fields of the group cannot make one token.
   */
  field<K extends Kind>(kind: K, target: Element | string, options: OptionsByKind[K]): Field;
  /** Creates one token from the fields of the group. @throws {FieldsError} */
  tokenize(options?: TokenizeOptions): Promise<Token>;
  /** Merges the fields of the group into the data of an existing token, for example a new cvc into a card. @throws {FieldsError} */
  update(tokenId: string, authorize: Authorize): Promise<Token>;
  /** Removes all fields of the group from the page. */
  destroy(): void;
}

export interface FieldsOptions {
  /** Id of the public Application to which the key belongs. */
  application: string;
  /** Theme of all fields of the group. */
  theme?: Theme | undefined;
}
