import type { Duplex } from 'node:stream';
import { answerClientError, answerConnect } from '@sluice/problems';
import type { Refusals } from '@sluice/service-runtime';

interface ParseError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

const inProxyError = {
  contentType: 'application/json',
  wrap: (problem: object) => ({ proxy_error: problem }),
};

/** The path of an invocation, of which the parser only read that the request is not one. */
const invocationLine = /^\S{1,100} (?:https?:\/\/[^\s/]+)?\/proxy[/? ]/i;

/** Answers what the parser refuses, and CONNECT, with the body that other refusals have. */
export const refusals: Refusals = {
  refuse(error: ParseError, socket: Duplex) {
    const isInvocation = invocationLine.test(error.rawPacket?.toString('latin1') ?? '');
    answerClientError(error, socket, isInvocation ? inProxyError : {});
  },
  refuseConnect: answerConnect,
};
