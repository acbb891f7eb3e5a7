import { types } from 'node:util';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

export type { Logger };

/** What goes into every line of a logger, and where its lines go. */
interface Outlet {
  service: string;
  timestamp: () => string;
  members: (() => object) | undefined;
  destination: DestinationStream;
}

const outlets = new WeakMap<Logger, Outlet>();

/**
 * A pino logger that knows how to print what we log and nothing else: an error is its name, message, code, stack and
 * causes, never its own members, which in database errors quote the statement's values. `members` are added to each line.
 */
export function createLogger(
  options: { service: string; level: string; members?: () => object },
  destination: DestinationStream = bufferedStdout(),
): Logger {
  const { service, members } = options;
  const timestamp = createTimestamp();
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

/** Plain values; one that is undefined is left out. */
export type LineMembers = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * A function that writes the line which `log.info(members, message)` writes, in two thirds of the time: for what is
 * written for each request. pino turns every name and every value into JSON by itself.
 * @throws {TypeError} for a logger that {@link createLogger} did not make.
 */
export function lineWriter(log: Logger, message: string): (members: LineMembers) => void {
  const outlet = outlets.get(log);
  if (!outlet) throw new TypeError('lineWriter needs a logger of createLogger');
  const { service, timestamp, members: common, destination } = outlet;
  const base = `,"service":${JSON.stringify(service)}`;
  const end = `,"msg":${JSON.stringify(message)}}\n`;
  return (members) => {
    if (!log.isLevelEnabled('info')) return;
    const json = JSON.stringify(common ? { ...common(), ...members } : members).slice(1, -1);
    destination.write(`{"level":"info"${timestamp()}${base}${json && ','}${json}${end}`);
  };
}

/** The member `time`, ISO 8601 in UTC. To write a date takes longer than a whole line, so it is written once a second. */
function createTimestamp(): () => string {
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

/**
 * Lines are gathered into writes of 32 KiB, or twice a second, so that logging costs a request almost nothing. They are
 * gathered as bytes: as text, all that has been gathered would be measured again for each line.
 */
function bufferedStdout(): DestinationStream & Pick<ReturnType<typeof pino.destination>, 'flush' | 'flushSync'> {
  const options = { dest: 1, sync: false, minLength: 32 * 1024, maxWrite: 64 * 1024, periodicFlush: 500 };
  const stdout = pino.destination({ ...options, contentMode: 'buffer' });
  const bytes = stdout as { write(line: unknown): boolean }; // typed for the other mode
  return {
    // A call of the member: when nobody reads any more pino replaces it, lest lines be gathered for ever
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
  // Whatever realm it comes from: a worker's or a test's errors are not of our Error.
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
