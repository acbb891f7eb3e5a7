import type { Dispatcher } from 'undici';
import { Call, failedCall } from './call.ts';
import type { Destinations } from './destinations.ts';
import type { Connection, ConnectionHandler, Link } from './link.ts';
import type { DestinationCall, DestinationSink } from './sink.ts';
import type { DestinationRequest } from './target.ts';

/** Sends a request whose body is in memory, over pooled connections of its Tenant. */
export function forward(
  request: DestinationRequest,
  destinations: Destinations,
  sink: DestinationSink,
): DestinationCall {
  try {
    const link = destinations.link(request);
    return new PooledCall(link, sink, destinations, request).begin();
  } catch (error) {
    return failedCall(error, sink);
  }
}

class PooledCall extends Call implements ConnectionHandler {
  connection: Connection | undefined;
  readonly #options: Dispatcher.DispatchOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #isReused = false;
  #bytesRead = 0;

  constructor(link: Link, sink: DestinationSink, destinations: Destinations, request: DestinationRequest) {
    super({ link, request }, sink, destinations);
    const { method, path, body, cdnLoop } = request;
    const headers = cdnLoop === undefined ? request.headers : request.headers.concat('CDN-Loop', cdnLoop);
    this.#options = { method, path, headers, body: body ?? null };
  }

  protected start(): void {
    this.link.pool.dispatch(this.#options, this);
  }

  resume(): void {
    this.#controller?.resume();
  }

  protected disconnect(reason: Error): void {
    if (this.#controller) this.#controller.abort(reason);
    else this.connection?.giveUp();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) {
      controller.abort(new Error('The call is over'));
      return;
    }
    this.#controller = controller;
    this.sink.onSent?.();
    this.connection?.expectHead();
    this.#isReused = (this.connection?.answers ?? 0) > 0;
    this.#bytesRead = this.connection?.socket?.bytesRead ?? 0;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, _headers: unknown, reason?: string): void {
    if (status >= 200) this.answer(status, flatList(controller.rawHeaders), reason);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.data(chunk)) controller.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.giveSlotBack();
    if (this.connection) this.connection.answers++;
    // For a body that ends with the connection, an orderly close is the only sign that it is whole
    const { socket } = this.connection ?? {};
    if (socket?.errored) this.fail(socket.errored);
    else this.end(flatList(controller.rawTrailers));
    // The destination answered before reading the whole request, so the rest is not sent
    if (socket && socket.writableLength > 0) socket.destroy();
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    const isUntouched = this.#isReused && this.connection?.socket?.bytesRead === this.#bytesRead;
    // From here on the connection may serve another call
    this.connection = undefined;
    this.#controller = undefined;
    if (this.takeRetry(error, this.#options.method, isUntouched)) {
      this.start();
    } else {
      this.giveSlotBack();
      this.fail(error);
    }
  }
}

function flatList(raw: Dispatcher.DispatchController['rawHeaders']): readonly (string | Buffer)[] {
  return Array.isArray(raw) ? raw : [];
}
