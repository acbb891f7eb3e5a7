// The messages between the page and a frame, over one MessagePort for each frame. A frame must understand the messages of
// every released `elements.js`, and may trust none, because a hostile script in the page can send them.
import type {
  Change,
  Changeable,
  FieldEvents,
  Kind,
  Problem,
  Style,
  Theme,
  Token,
  TokenizeOptions,
  Words,
} from './types.ts';

/** How the text around a field looks, and the field's themes. Later themes win. */
export interface Shown extends Changeable {
  title: string;
  /** `font`: from `elements.js` 0.1.0. */
  around: Style & { font?: string };
  themes: (Theme | undefined)[];
}

/** The first message over the port. */
export interface Start extends Shown {
  do: 'start';
  /** `hub`: a frame without a field, at which frames in a shadow root find each other. */
  kind: Kind | 'hub';
  /** `id` is unique to the field; `group` is the same for all fields that make one token. */
  id: string;
  group: string;
  /** API key of the Application. It never appears in a URL. */
  key: string;
  lang: string;
  words?: Words | undefined;
  name?: string | undefined;
  mask?: string | undefined;
  pattern?: string | undefined;
  token?: string | undefined;
}

/** `fields`: the ids of all fields in the group, so that a missing one is noticed. */
export interface Tokenize {
  do: 'tokenize';
  call: number;
  fields: string[];
  options: TokenizeOptions;
}

export interface Patch {
  do: 'patch';
  call: number;
  fields: string[];
  token: string;
}

export type ToFrame =
  | Start
  | { do: 'focus' | 'clear' }
  | ({ do: 'update' } & Shown)
  | Tokenize
  | Patch
  /** `refusal`: why the page did not authorize the session; empty if it did. */
  | { do: 'authorized'; call: number | undefined; refusal: string | undefined };

/** A message has one of these members, or several. */
export interface FromFrame {
  /** An event of the field, or `ready`. */
  emit?: keyof FieldEvents | 'ready';
  event?: Change | Problem;
  /** For the target: the names of the field's states, which the page's styles can select. */
  dataset?: { field: string };
  /** For the frame element. Browsers make it transparent only if it has the colour scheme of its content. */
  style?: { height?: string; opacity?: string; colorScheme?: 'light' | 'dark' };
  /** The call that this answers. With `nonce` it asks the page to authorize a session for this call; 0 is a reveal. */
  call?: number;
  nonce?: string;
  token?: Token;
  problem?: Problem;
}
