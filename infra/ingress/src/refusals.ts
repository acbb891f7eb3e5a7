import type { Duplex } from 'node:stream';
import { answerClientError, answerConnect, problemRefusal, proxyRefusal } from '@sluice/problems';
import type { Refusals } from '@sluice/service-runtime';

interface ParseError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

/** Recognizes an invocation in the raw request line, because the parser failed before it read the path. */
const invocationLine = /^\S{1,100} (?:https?:\/\/[^\s/]+)?\/proxy[/? ]/i;

/** Answers requests that the parser refuses, and CONNECT, with the same kind of body as other refusals. */
export const refusals: Refusals = {
  refuse(error: ParseError, socket: Duplex) {
    const isInvocation = invocationLine.test(error.rawPacket?.toString('latin1') ?? '');
    answerClientError(error, socket, isInvocation ? proxyRefusal : problemRefusal);
  },
  refuseConnect: answerConnect,
};
