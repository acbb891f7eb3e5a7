import type { Socket } from 'node:net';
import { serveBytes } from '@sluice/testing';
import { addTo } from './count.ts';

/** What a request asks the destination to do. */
export const faultHeader = 'x-fault';
/** By which requests are counted. */
export const requestIdHeader = 'x-request-id';

export interface MisbehavingDestination {
  url: string;
  /** How often each request arrived. */
  arrivals: ReadonlyMap<string, number>;
}

export type DestinationFault = keyof typeof faults;

export const wholeBody = 'x'.repeat(60);
const half = wholeBody.slice(0, 30);
const sized = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${wholeBody.length}\r\n\r\n`;
const chunked = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n';
const unframed = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n';
const chunk = `${half.length.toString(16)}\r\n${half}\r\n`;
const whole = `${sized}${wholeBody}`;

/** Long enough for the first part to have been passed on. */
const pauseMs = 50;
const later = (act: () => void, ms = pauseMs) => void setTimeout(act, ms);

const cut = (text: string, end: (socket: Socket) => void) => (socket: Socket) => {
  socket.write(text);
  later(() => end(socket));
};
const reset = (socket: Socket) => void socket.resetAndDestroy();
const close = (socket: Socket) => void socket.end();

const faults = {
  'hangs before the head': () => undefined,
  'hangs in the body': (socket: Socket) => void socket.write(sized + half),
  'resets a sized body': cut(sized + half, reset),
  'closes a sized body': cut(sized + half, close),
  'resets a chunked body': cut(chunked + chunk, reset),
  'closes a chunked body': cut(chunked + chunk, close),
  'closes in a chunk': cut(`${chunked}20\r\n${half}`, close),
  'resets an unframed body': cut(unframed + half, reset),
  'resets in the head': cut(sized.slice(0, 30), reset),
  drips: (socket: Socket) => {
    let at = 0;
    const drip = () => {
      if (at === whole.length || socket.destroyed) return;
      socket.write(whole.charAt(at));
      at += 1;
      later(drip, 3);
    };
    drip();
  },
  'sends garbage': (socket: Socket) => void socket.write('what is this?\r\n\r\n'),
  'closes what is kept': (socket: Socket) => {
    socket.write(whole);
    later(() => socket.end(), Math.random() * 4);
  },
} as const;

/** A destination without HTTP of its own: it does to each request what its header asks for. */
export async function startMisbehavingDestination(stack: AsyncDisposableStack): Promise<MisbehavingDestination> {
  const arrivals = new Map<string, number>();
  const url = await serveBytes(stack, (socket) => {
    let received = '';
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('error', () => socket.destroy());
    socket.on('data', (text) => {
      received += text;
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const read = (name: string) => new RegExp(`\\r\\n${name}: ([^\\r]*)`, 'i').exec(received)?.[1];
      const bodyEnd = headEnd + 4 + Number(read('content-length') ?? 0);
      const isEarly = read(faultHeader) === 'answers early';
      if (received.length < bodyEnd && !isEarly) return;
      addTo(arrivals, read(requestIdHeader) ?? '');
      const fault = read(faultHeader);
      received = received.slice(bodyEnd);
      if (isEarly) socket.end(`${unframed}${wholeBody}`);
      else faults[fault as DestinationFault](socket);
    });
  });
  return { url, arrivals };
}
