import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

interface Parser {
  constructor: { kOnExecute?: number };
  /** The last read; valid only while `kOnExecute` is called. */
  getCurrentBuffer(): Buffer;
  /** At `kOnExecute`: called after each read, with the number of parsed bytes. */
  [event: number]: ((parsed: number | Error) => void) | null;
}

/**
 * Declines every offer of an upgrade, so that its request is served as HTTP/1.1 (RFC 9110 section 7.8). The parser
 * stops after such a request and Node drops the rest of the read, so that the body of a dropped request could pass for
 * requests. Therefore `onDropped` must end the connection.
 */
export function declineUpgrades(onDropped: (socket: Socket) => void): (request: IncomingMessage) => false {
  return (request) => {
    const { socket } = request;
    const parser: Parser | undefined = Reflect.get(socket, 'parser');
    const event = parser?.constructor.kOnExecute;
    const onExecute = event !== undefined && parser?.[event];
    // If this Node version hides the parser, assume that bytes were dropped.
    if (!onExecute) setImmediate(onDropped, socket);
    else {
      parser[event] = (parsed) => {
        if (request.complete) {
          parser[event] = onExecute;
          if (typeof parsed === 'number' && parsed < parser.getCurrentBuffer().length) onDropped(socket);
        }
        onExecute(parsed);
      };
    }
    return false;
  };
}
