import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Has answers say `Connection: close`, those that are owed already and those to come. */
export interface AnswersThatClose {
  /** Where several requests wait on a connection, only the last of their answers: the others are to arrive, too. */
  closeLast(): void;
  closeAll(): void;
}

export function answersThatClose(server: Server): AnswersThatClose {
  /**
   * The answers that each connection owes, in order. Not a Set of all of them: as it grows and shrinks with each request,
   * V8 makes it new tables, an old one refers to the next, and so each answer that ever was in one outlives the
   * collections of young objects, with all that it refers to. That took a fifth of the gateway's time.
   */
  const owed = new Map<Socket, ServerResponse[]>();
  /** Those that would have kept their connection. */
  const closing = new WeakSet<ServerResponse>();
  let mode: 'keep' | 'last' | 'all' = 'keep';

  function close(response: ServerResponse): void {
    if (response.headersSent || !response.shouldKeepAlive) return;
    response.shouldKeepAlive = false;
    closing.add(response);
  }

  function owedBy(socket: Socket): ServerResponse[] {
    const known = owed.get(socket);
    if (known) return known;
    const responses: ServerResponse[] = [];
    owed.set(socket, responses);
    socket.once('close', () => owed.delete(socket));
    return responses;
  }

  function onRequest({ socket }: IncomingMessage, response: ServerResponse): void {
    const responses = owedBy(socket);
    const before = responses.at(-1);
    responses.push(response);
    response.once('close', () => responses.splice(responses.indexOf(response), 1));
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
      for (const responses of owed.values()) {
        const newest = responses.at(-1);
        if (newest) close(newest);
      }
    },
    closeAll() {
      mode = 'all';
      for (const responses of owed.values()) responses.forEach(close);
    },
  };
}
