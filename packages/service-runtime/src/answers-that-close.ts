import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Makes answers say `Connection: close`, both those that are owed already and those to come. */
export interface AnswersThatClose {
  /** Of several answers on one connection only the last one closes it, because the others must arrive too. */
  closeLast(): void;
  closeAll(): void;
}

export function answersThatClose(server: Server): AnswersThatClose {
  /**
   * The answers that each connection owes, in order. A Set of all answers took a fifth of the gateway's time: as it grows
   * and shrinks, V8 gives it new tables, and an old table refers to the next. So each answer, with all that it refers to,
   * outlived the collections of young objects.
   */
  const owed = new Map<Socket, ServerResponse[]>();
  /** Answers that would have kept their connection open. */
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

  // Only events that already have a listener, because a listener of ours would replace Node's own answer.
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
