/** A card is made of `number`, `expiry` and `cvc`, or of `card`, which has all three in one frame. */
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

/** Values as in CSS, at most 200 characters, without addresses. */
export type Style = Partial<Record<StyleName, string>>;

/** How a field looks. A color or font that `base` does not set is that of the element around the field. */
export interface Theme {
  base?: Style | undefined;
  /** While it has the focus. */
  focus?: Style | undefined;
  placeholder?: Style | undefined;
  /** Once a person has left it incomplete. */
  invalid?: Style | undefined;
}

/** Words in a field, for other languages than English. */
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

/** The options that may change while the field is in the page. */
export interface Changeable {
  /** Names the field to screen readers. */
  title?: string | undefined;
  /** For `card`: the placeholder of the number. */
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
  /** The member of the token's data, where a token is made of several texts. */
  name?: string | undefined;
  /** 9 is a digit, a is a letter, * is either; everything else is shown as it is. */
  mask?: string | undefined;
  /** A regular expression (flag `v`) that the whole text must match. */
  pattern?: string | undefined;
}

/** Has the page's own server authorize the session with this nonce, and resolves once it has. */
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
  /** Of `number` and `card`, when complete. */
  brand?: string;
  /** Also then, and once no other digits can become the last ones: the number is as long as it can be, or left. */
  last4?: string;
}

/** What a request or a field failed with. */
export interface Problem {
  /** Absent where there was no answer. */
  status?: number;
  title: string;
  detail?: string;
  /** Messages by the path of what is wrong. */
  errors?: Record<string, string[]>;
  retryAfterSeconds?: number;
  /** The kinds, or the names of texts, that are not complete. */
  fields?: string[];
}

/** What `tokenize` and `update` reject with. Its message is the detail, or else the title; it has no value. */
export interface FieldsError extends Error, Problem {}

export interface FieldEvents {
  focus: undefined;
  blur: undefined;
  change: Change;
  /** Enter was pressed. */
  submit: undefined;
  error: Problem;
}

export interface Field {
  /** Rejects if the frame has not loaded after 10 seconds. A frame that loads later still works. */
  readonly ready: Promise<void>;
  /** @returns a function that removes the listener. */
  on<N extends keyof FieldEvents>(name: N, listener: (event: FieldEvents[N]) => void): () => unknown;
  focus(): void;
  clear(): void;
  update(changes: Changeable): void;
  unmount(): void;
}

export interface TokenizeOptions {
  /** Default: `card`, and `token` for texts. */
  type?: string | undefined;
  metadata?: Record<string, string> | undefined;
  containers?: string[] | undefined;
}

/** A token as the vault answers it, without its data. */
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
   * Puts a field into the target, an element or its selector. It replaces a field that is already there.
   * @throws {Error} if the target does not exist, or if the fields of the group could not make one token.
   */
  field<K extends Kind>(kind: K, target: Element | string, options: OptionsByKind[K]): Field;
  /** Makes one token of the group's fields. @throws {FieldsError} */
  tokenize(options?: TokenizeOptions): Promise<Token>;
  /** Merges the group's fields into the data of a token, for example to add a cvc again. @throws {FieldsError} */
  update(tokenId: string, authorize: Authorize): Promise<Token>;
  /** Takes all fields of the group out of the page. */
  destroy(): void;
}

export interface FieldsOptions {
  /** Id of the public Application to which the key belongs. */
  application: string;
  /** For all fields of the group. */
  theme?: Theme | undefined;
}
