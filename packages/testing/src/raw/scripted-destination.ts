import type { Socket } from 'node:net';
import { serveBytes } from '../serve.ts';
import { type RawMessage, readMessages } from './read-messages.ts';

export interface Script {
  onRequest?(socket: Socket, request: RawMessage, place: { connection: number; request: number }): void;
  onBytes?(socket: Socket, soFar: string, connection: number): void;
}

export interface ScriptedDestination {
  url: string;
  sockets: Socket[];
  /** Every received byte of each connection, as latin1. */
  texts: string[];
  seen(): RawMessage[];
  rest(): string[];
  close(): Promise<void>;
}

export const okAnswer = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

export const echoesPath: Script = {
  onRequest: (socket, { start }) => socket.write(okAnswer(start.split(' ')[1] ?? '')),
};

export async function startScripted(script: Script): Promise<ScriptedDestination> {
  const sockets: Socket[] = [];
  const texts: string[] = [];
  const opened = new AsyncDisposableStack();
  const url = await serveBytes(opened, (socket) => {
    const connection = sockets.push(socket) - 1;
    let answered = 0;
    texts[connection] = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      const text = (texts[connection] ?? '') + chunk.toString('latin1');
      texts[connection] = text;
      script.onBytes?.(socket, text, connection);
      if (!script.onRequest) return;
      for (const request of readMessages(text).messages.slice(answered)) {
        script.onRequest(socket, request, { connection, request: answered });
        answered++;
      }
    });
  });
  return {
    url,
    sockets,
    texts,
    seen: () => texts.flatMap((text) => readMessages(text).messages),
    rest: () => texts.map((text) => readMessages(text).rest).filter((rest) => rest !== ''),
    close: () => opened.disposeAsync(),
  };
}
