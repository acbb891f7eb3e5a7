import { types } from 'node:util';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

export type { Logger };

interface Outlet {
  service: string;
  timestamp: () => string;
  members: (() => object) | undefined;
  destination: DestinationStream;
}

const outlets = new WeakMap<Logger, Outlet>();

/** Prints only name, message, code, stack and causes of errors, because Postgres's quote values of the statement. */
export function serviceLogger(
  options: { service: string; level: string; members?: () => object },
  destination: DestinationStream = bufferedStdout(),
): Logger {
  const { service, members } = options;
  const timestamp = timestamps();
  const pinoOptions: LoggerOptions = {
    level: options.level,
    base: { service },
    timestamp,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: serializeError },
    ...(members && { mixin: members }),
  };
  const log = pino(pinoOptions, destination);
  outlets.set(log, { service, timestamp, members, destination });
  return log;
}

export type LineMembers = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Writes the line of `log.info(members, message)` in two thirds of the time, with one JSON text of all members.
 * @throws {TypeError} for a logger that {@link serviceLogger} did not make.
 */
export function lineWriter(log: Logger, message: string): (members: LineMembers) => void {
  const outlet = outlets.get(log);
  if (!outlet) throw new TypeError('lineWriter needs a logger of serviceLogger');
  const { service, timestamp, members: common, destination } = outlet;
  const base = `,"service":${JSON.stringify(service)}`;
  const end = `,"msg":${JSON.stringify(message)}}\n`;
  return (members) => {
    if (!log.isLevelEnabled('info')) return;
    const json = JSON.stringify(common ? { ...common(), ...members } : members).slice(1, -1);
    destination.write(`{"level":"info"${timestamp()}${base}${json && ','}${json}${end}`);
  };
}

/** ISO 8601 in UTC. The date is formatted once a second, because that takes longer than the rest of a line. */
function timestamps(): () => string {
  let second = Number.NaN;
  let upToSecond = '';
  return () => {
    const now = Date.now();
    const milliseconds = now % 1000;
    if (now - milliseconds !== second) {
      second = now - milliseconds;
      upToSecond = `,"time":"${new Date(second).toISOString().slice(0, 20)}`;
    }
    return `${upToSecond}${String(milliseconds).padStart(3, '0')}Z"`;
  };
}

/** Writes 32 KiB at a time, or twice a second, so that logging costs little; as bytes, which need no measuring. */
function bufferedStdout(): DestinationStream & Pick<ReturnType<typeof pino.destination>, 'flush' | 'flushSync'> {
  const options = { dest: 1, sync: false, minLength: 32 * 1024, maxWrite: 64 * 1024, periodicFlush: 500 };
  const stdout = pino.destination({ ...options, contentMode: 'buffer' });
  const bytes = stdout as { write(line: unknown): boolean }; // typed for the other mode
  return {
    // Looked up at each call, because pino replaces `write` when its output is closed.
    write: (line) => void bytes.write(Buffer.from(line)),
    flush: (done) => stdout.flush(done),
    flushSync: () => stdout.flushSync(),
  };
}

interface LoggedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggedError;
}

function serializeError(thrown: unknown, depth = 0): LoggedError {
  // `instanceof Error` would miss errors of another realm, such as a worker's.
  if (!isError(thrown)) return { type: typeof thrown, message: 'a value that is not an Error was thrown' };
  return {
    type: thrown.name,
    message: thrown.message,
    ...('code' in thrown && typeof thrown.code === 'string' && { code: thrown.code }),
    ...(thrown.stack && { stack: thrown.stack }),
    ...(thrown.cause !== undefined && depth < 4 && { cause: serializeError(thrown.cause, depth + 1) }),
  };
}

function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}
