import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerClientError, answerConnect } from '@sluice/problems';

interface ParseError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

const inProxyError = {
  contentType: 'application/json',
  wrap: (problem: object) => ({ proxy_error: problem }),
};
const asProblem = {};

/** The path of an invocation, of which the parser only read that the request is not one. */
const invocationLine = /^\S{1,100} (?:https?:\/\/[^\s/]+)?\/proxy[/? ]/i;

/**
 * Answers what the parser refuses, and CONNECT, with the body that other refusals have. Answers that the connection still
 * owes go out first, so that the refusal cannot be taken for one of them.
 */
export function answerRefusals(server: Server): void {
  const newest = new WeakMap<Duplex, ServerResponse>();
  const remember = (_request: unknown, response: ServerResponse) => {
    if (response.socket) newest.set(response.socket, response);
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, remember);

  server.on('clientError', (error: ParseError, socket) => {
    const shape = invocationLine.test(error.rawPacket?.toString('latin1') ?? '') ? inProxyError : asProblem;
    const answer = () => answerClientError(error, socket, shape);
    const owed = newest.get(socket);
    if (!owed || owed.writableFinished || owed.destroyed) answer();
    else if (owed.req.complete) owed.once('close', answer);
    // The fault is in the body of that request, whose answer may have begun
    else if (owed.headersSent) socket.destroy();
    else answer();
  });
  server.on('connect', (_request, socket) => answerConnect(socket, asProblem));
}
