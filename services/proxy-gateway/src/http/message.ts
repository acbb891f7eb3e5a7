import type { Readable } from 'node:stream';
import type { ContentKind } from './content-type.ts';

/** Names and values in turn, as node:http and undici take them. */
export type HeaderList = string[];

/** A request or an answer whose body is in memory. */
export interface Message {
  headers: HeaderList;
  body: Buffer;
}

/** A request on its way to the destination. A body that need not be read stays a stream. */
export interface RequestMessage {
  headers: HeaderList;
  kind: ContentKind;
  body: Buffer | Readable;
}

/** A destination's answer that was collected for a transform. */
export interface Answer extends Message {
  status: number;
  /** The reason phrase; undefined for the usual one of the status. */
  reason?: string | undefined;
}
