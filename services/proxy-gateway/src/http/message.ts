import type { Readable } from 'node:stream';
import type { ContentKind } from './content-type.ts';

/** Names and values in turn, as node:http and undici take them. */
export type HeaderList = string[];

export interface Message {
  headers: HeaderList;
  body: Buffer;
}

export interface RequestMessage {
  headers: HeaderList;
  kind: ContentKind;
  body: Buffer | Readable;
}

export interface Answer extends Message {
  status: number;
  reason?: string | undefined;
}
