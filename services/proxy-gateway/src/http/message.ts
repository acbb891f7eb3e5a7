import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { ContentKind } from './content-type.ts';

/** Names and values in turn, as node:http and undici take them. */
export type HeaderList = string[];

export interface Message {
  headers: HeaderList;
  body: Buffer;
}

/** The message to the destination: as it came, then with the values, then as the transform wrote it. */
export interface RequestMessage {
  headers: HeaderList;
  kind: ContentKind;
  body: Buffer | Readable;
  /** Whether the body is another than the one that came: decoded, or with values. */
  isBodyNew: boolean;
}

export interface Answer extends Message {
  status: number;
  reason?: string | undefined;
}

/** An answer that nobody reads here: its body is sent as it comes. */
export interface PassedAnswer extends Omit<Answer, 'body'> {
  body: PassedBody;
}

export interface PassedBody {
  /** Call it once the head is written. Nothing to await where all of the body has come. */
  sendTo(response: ServerResponse): Promise<void> | undefined;
  /** If it is not sent, the call of the destination is over. */
  abort(): void;
}
