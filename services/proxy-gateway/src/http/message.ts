import type { Readable } from 'node:stream';
import type { ContentKind } from './content-type.ts';

/** Names and values in turn, as node:http and undici take them. */
export type HeaderList = string[];

export interface Message {
  headers: HeaderList;
  body: Buffer;
}

/** A body that need not be read stays a stream. */
export interface RequestMessage {
  headers: HeaderList;
  kind: ContentKind;
  body: Buffer | Readable;
}

export interface Answer extends Message {
  status: number;
  /** Undefined stands for the usual phrase of the status. */
  reason?: string | undefined;
}
