import { type Agent, type ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import HttpProxy from 'http-proxy';
import { Call, failedCall } from './call.ts';
import type { Destinations } from './destinations.ts';
import { type GiveUp, nothingToGiveUp } from './dial.ts';
import { failure } from './failures.ts';
import { checkConnection } from './headers.ts';
import { bodyIdleTimeoutMs, type Link } from './link.ts';
import type { DestinationCall, DestinationSink } from './sink.ts';
import type { DestinationRequest } from './target.ts';

export interface StreamedRequest extends Omit<DestinationRequest, 'body'> {
  /** The caller's request keeps its length. Another stream is sent chunked, and an error of it aborts the call. */
  body: Readable | Buffer | undefined;
  /** The request that the body comes from. A destination is not late while this client is. */
  incoming?: IncomingMessage | undefined;
  keepAlive?: string | undefined;
  connection?: string | undefined;
}

/** Sends a request whose body is not in memory, or which sets its own `Keep-Alive` or `Connection`. */
export function streamThrough(
  request: StreamedRequest,
  destinations: Destinations,
  sink: DestinationSink,
): DestinationCall {
  try {
    if (request.connection !== undefined) checkConnection(request.connection, request.headers);
    const link = destinations.link(request);
    return new StreamedCall(link, sink, destinations, request).begin();
  } catch (error) {
    return failedCall(error, sink);
  }
}

/** http-proxy builds the request and pipes the body; {@link StreamedCall} works around its faults. */
const proxy = HttpProxy.createProxyServer({ selfHandleResponse: true, ignorePath: true, toProxy: true, secure: true });

class StreamedCall extends Call {
  readonly #request: StreamedRequest;
  #outgoing: ClientRequest | undefined;
  #giveUpDialling: GiveUp = nothingToGiveUp;
  #response: IncomingMessage | undefined;
  #bytesRead = 0;
  #bytesWritten = 0;

  constructor(link: Link, sink: DestinationSink, destinations: Destinations, request: StreamedRequest) {
    super({ link, request }, sink, destinations);
    this.#request = request;
    if (request.body instanceof Readable) this.#watchBody(request.body);
  }

  protected start(): void {
    const { method, body } = this.#request;
    const { host, port } = this.link.peer;
    const target = { protocol: this.link.protocol, host, hostname: host, port };
    const buffer = body instanceof Readable ? body : Readable.from(body ? [body] : []);
    // Blank ones, so that http-proxy cannot read or change the caller's. With POST it leaves the framing alone
    const blank = new IncomingMessage(new Socket());
    blank.method = 'POST';
    try {
      const options = { target, method, buffer, agent: this.#tappedAgent() };
      proxy.web(blank, new ServerResponse(blank), options, (error) => this.#onError(error));
    } catch (error) {
      this.giveSlotBack();
      this.fail(error);
    }
  }

  resume(): void {
    this.#response?.resume();
  }

  /**
   * A long upload is not late while it progresses, or while it waits for its client, which has a time limit of its own.
   */
  override onHeadTimeout(): void {
    const { bytesWritten = 0 } = this.#outgoing?.socket ?? {};
    const isMoving = !this.#outgoing?.writableFinished && bytesWritten > this.#bytesWritten;
    this.#bytesWritten = bytesWritten;
    if (isMoving || this.#waitsForClient()) this.headTimer.refresh();
    else super.onHeadTimeout();
  }

  /**
   * The destination has taken everything received so far, and more is being read, as `server/gateway-server.ts`
   * defines it.
   */
  #waitsForClient(): boolean {
    const { incoming } = this.#request;
    if (this.#outgoing?.socket?.connecting !== false || this.#outgoing.writableLength > 0) return false;
    return incoming !== undefined && !incoming.complete && incoming.readableFlowing === true;
  }

  protected disconnect(): void {
    this.#outgoing?.destroy();
    this.#giveUpDialling();
    this.#releaseBody();
  }

  /** The link's agent, wrapped so that the request can be changed before its first byte is written. */
  #tappedAgent(): Agent {
    const { agent } = this.link;
    const addRequest = (outgoing: ClientRequest, options: object) => {
      this.#prepare(outgoing);
      this.#giveUpDialling = agent.send(outgoing, options);
    };
    return Object.create(agent, { addRequest: { value: addRequest } });
  }

  #prepare(outgoing: ClientRequest): void {
    const { path, headers, keepAlive, connection, cdnLoop } = this.#request;
    if (!sendable.test(path)) throw failure('ERR_UNESCAPED_CHARACTERS', 'The path cannot be sent');
    outgoing.path = path; // http-proxy would fold `//`
    outgoing.maxHeadersCount = 0; // without a limit, because Node would drop headers beyond it
    Object.assign(outgoing, { maxHeaderSize: this.link.maxHeadBytes });
    appendHeaders(outgoing, this.filter.request(headers));
    appendHeaders(outgoing, framing(this.#request));
    if (cdnLoop !== undefined) outgoing.setHeader('CDN-Loop', cdnLoop);
    if (keepAlive !== undefined) outgoing.setHeader('Keep-Alive', keepAlive);
    if (connection !== undefined) outgoing.setHeader('Connection', connection);
    outgoing.once('socket', (socket) => {
      this.#bytesRead = socket.bytesRead;
      this.#bytesWritten = socket.bytesWritten;
      this.sink.onSent?.();
    });
    outgoing.once('finish', () => {
      if (!this.isAnswered && !this.isOver) this.headTimer.refresh();
    });
    outgoing.once('response', (response) => this.#onResponse(response));
    outgoing.once('close', () => {
      if (outgoing === this.#outgoing) this.#onError(failure('ECUTOFF', 'The connection was closed'));
      // Unless a retry has replaced the request
      if (outgoing === this.#outgoing) this.giveSlotBack();
    });
    this.#outgoing = outgoing;
  }

  #onResponse(response: IncomingMessage): void {
    const { statusCode = 0 } = response;
    this.#response = response;
    response.on('error', (error) => this.fail(error));
    if (statusCode < 200) {
      this.fail(failure('ECUTOFF', `Status ${statusCode}`));
      return;
    }
    this.answer(statusCode, response.rawHeaders, response.statusMessage);
    this.#outgoing?.setTimeout(bodyIdleTimeoutMs, () => {
      if (!response.isPaused()) this.fail(failure('ECUTOFF', 'The response body stands still'));
    });
    response.on('data', (chunk: Buffer) => {
      if (!this.data(chunk)) response.pause();
    });
    response.on('end', () => this.#onResponseEnd(response));
  }

  #onResponseEnd(response: IncomingMessage): void {
    if (response.complete) this.end(response.rawTrailers);
    else this.fail(failure('ECUTOFF', 'The body is not whole'));
    // The destination answered before reading the whole request, so the rest is not sent
    if (!this.#outgoing?.writableFinished) this.disconnect();
  }

  #onError(error: Error): void {
    // Bytes after the end of the answer break the connection but not the answer; `end` follows
    if (this.#response?.complete) return;
    const { body, method } = this.#request;
    const { reusedSocket = false, socket } = this.#outgoing ?? {};
    // A stream has been read, so it cannot be sent a second time
    const isUntouched = reusedSocket && socket?.bytesRead === this.#bytesRead && !(body instanceof Readable);
    if (this.takeRetry(error, method, isUntouched)) this.start();
    else this.fail(error);
  }

  /** `pipe` passes on neither an error of its source nor its early end. */
  #watchBody(body: Readable): void {
    body.once('error', (error) => this.fail(error));
    body.once('close', () => {
      if (!body.readableEnded) this.fail(failure('ECUTOFF', 'The request body was cut off'));
    });
  }

  /** Drains the rest of the body, so that the caller's connection stays usable. */
  #releaseBody(): void {
    const { body } = this.#request;
    if (!(body instanceof Readable) || body.destroyed) return;
    if (this.#outgoing) body.unpipe(this.#outgoing);
    body.resume();
  }
}

const sendable = /^\/[\u0021-\u00ff]*$/;

function appendHeaders(outgoing: ClientRequest, headers: readonly string[]): void {
  for (let i = 0; i + 1 < headers.length; i += 2) outgoing.appendHeader(headers[i] ?? '', headers[i + 1] ?? '');
}

/** Written by this service, because the parser has verified only the length of the caller's request. */
function framing({ body, method }: StreamedRequest): string[] {
  const sizeBytes = body instanceof Readable ? sizeOf(body) : (body?.length ?? 0);
  if (sizeBytes === undefined) return ['Transfer-Encoding', 'chunked'];
  const expectsBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
  return sizeBytes > 0 || expectsBody ? ['Content-Length', `${sizeBytes}`] : [];
}

function sizeOf(body: Readable): number | undefined {
  if (!(body instanceof IncomingMessage) || body.headers['transfer-encoding'] !== undefined) return undefined;
  return Number(body.headers['content-length'] ?? 0);
}
