import { finished } from 'node:stream/promises';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import type { Request, Response } from 'express';
import type { Streams } from './streams.ts';

export interface StreamOptions {
  streams: Streams;
  caller: Caller;
  /** @throws if the request would now be refused. */
  authorize(): Promise<unknown>;
  status: number;
  headers: Readonly<Record<string, string>>;
}

/**
 * Checks the caller's right before each piece. An early end is a reset, because in HTTP/1.0 any other end seems
 * complete.
 */
export async function sendStream(
  request: Request,
  response: Response,
  pieces: AsyncGenerator<string, void, undefined>,
  { streams, caller, authorize, status, headers }: StreamOptions,
): Promise<void> {
  const state: State = { changes: 0, isOver: false };
  const end = (reason?: unknown) => {
    state.isOver = true;
    state.reason ??= reason;
    if (response.headersSent) request.socket.resetAndDestroy();
  };
  const giveBack = streams.take(caller.tenantId, end);
  const stopWatching = streams.watch(caller, () => {
    state.changes += 1;
    authorize().catch(end);
  });
  const timer = setTimeout(() => end(tooLong()), streams.longestMs);
  const mayGoOn = async () => {
    await confirm(authorize, state);
    if (state.reason !== undefined) throw state.reason;
    if (state.isOver && !response.headersSent) throw stopping();
    return !state.isOver && !response.destroyed;
  };
  try {
    let piece = await pieces.next();
    if (!(await mayGoOn())) return;
    response.writeHead(status, headers);
    while (!piece.done && request.method !== 'HEAD') {
      if (piece.value !== '' && !response.write(piece.value)) await drained(response);
      piece = await pieces.next();
      if (!(await mayGoOn())) return;
    }
    response.end();
    await finished(response).catch(() => undefined); // the reader is gone
    if (state.reason !== undefined) throw state.reason;
  } catch (error) {
    if (response.headersSent) request.socket.resetAndDestroy();
    throw error;
  } finally {
    clearTimeout(timer);
    stopWatching();
    giveBack();
    await pieces.return();
  }
}

interface State {
  changes: number;
  isOver: boolean;
  reason?: unknown;
}

/** Repeats the check if something changed during it, because then its result may be outdated. */
async function confirm(authorize: () => Promise<unknown>, state: State): Promise<void> {
  for (let seen = -1; seen !== state.changes; ) {
    seen = state.changes;
    await authorize();
  }
}

function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve();
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

function tooLong(): ServiceError {
  return new ServiceError('request_timeout', 'The stream took longer than STREAM_MAX_SECONDS');
}

function stopping(): ServiceError {
  return new ServiceError('unavailable', 'The service is stopping; try again', { retryAfterSeconds: 1 });
}
