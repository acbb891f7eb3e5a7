import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { ContentKind } from './content-type.ts';

/** Names and values alternate, as node:http and undici take them. */
export type HeaderList = string[];

export interface Message {
  headers: HeaderList;
  body: Buffer;
}

/** The message to the destination: as received, then with values, then as the transform wrote it. */
export interface RequestMessage {
  headers: HeaderList;
  kind: ContentKind;
  body: Buffer | Readable;
  /** Whether the body differs from the received one, because it was decoded or has values. */
  isBodyNew: boolean;
}

export interface Answer extends Message {
  status: number;
  reason?: string | undefined;
}

/** A response that the gateway does not read: its body is sent as it comes. */
export interface PassedAnswer extends Omit<Answer, 'body'> {
  body: PassedBody;
}

export interface PassedBody {
  /** Call it once the head is written. Returns undefined if the whole body has been received. */
  sendTo(response: ServerResponse): Promise<void> | undefined;
  /** Ends the call of the destination if the response is not sent. */
  abort(): void;
}
