import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Has answers say `Connection: close`, those that are owed already and those to come. */
export interface AnswersThatClose {
  /** Where several requests wait on a connection, only the last of their answers: the others are to arrive, too. */
  closeLast(): void;
  closeAll(): void;
}

export function answersThatClose(server: Server): AnswersThatClose {
  const owed = new Set<ServerResponse>();
  const newest = new WeakMap<Socket, ServerResponse>();
  /** Those that would have kept their connection. */
  const closing = new WeakSet<ServerResponse>();
  let mode: 'keep' | 'last' | 'all' = 'keep';

  function close(response: ServerResponse): void {
    if (response.headersSent || !response.shouldKeepAlive) return;
    response.shouldKeepAlive = false;
    closing.add(response);
  }

  function onRequest({ socket }: IncomingMessage, response: ServerResponse): void {
    const before = newest.get(socket);
    newest.set(socket, response);
    owed.add(response);
    response.once('close', () => owed.delete(response));
    if (mode === 'keep') return;
    close(response);
    if (mode === 'last' && before && closing.has(before) && !before.headersSent) before.shouldKeepAlive = true;
  }

  // All that a server may be asked; to listen to what nobody else listens to would take away Node's own answer.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    if (server.listenerCount(event) > 0) server.prependListener(event, onRequest);
  }
  return {
    closeLast() {
      mode = 'last';
      for (const response of owed) if (newest.get(response.req.socket) === response) close(response);
    },
    closeAll() {
      mode = 'all';
      for (const response of owed) close(response);
    },
  };
}
