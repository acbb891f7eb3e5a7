import { type ChaosProxy, type Direction, directions } from './chaos-proxy.ts';

export const commandHelp = `  latency MS [JITTER]      each byte takes so long, and up to JITTER more
  bandwidth BYTES          so many bytes a second
  stall [DIRECTION]        hold what comes (to-server or to-client; both if left out)
  truncate N [DIRECTION]   end each connection after N bytes
  cut                      reset every open connection
  refuse | accept          refuse new connections, or take them again
  calm                     undisturbed from now on; what was held is delivered
  status                   how many connections are open`;

/** Something is wrong with what was typed; the message says what. */
export class CommandError extends Error {}

/**
 * Does what a line says.
 * @returns what to tell the person who typed it.
 * @throws {CommandError}
 */
export async function runChaosCommand(line: string, proxy: ChaosProxy): Promise<string> {
  const [name = '', ...words] = line.trim().split(/\s+/);
  switch (name) {
    case 'latency':
      proxy.disturb({ latencyMs: readNumber(words[0]), jitterMs: readNumber(words[1] ?? '0') });
      break;
    case 'bandwidth':
      proxy.disturb({ bytesPerSecond: readNumber(words[0], 1) });
      break;
    case 'stall':
      proxy.stall(readDirection(words[0]));
      break;
    case 'truncate':
      proxy.disturb({ truncateAtByte: readNumber(words[0]) }, readDirection(words[1]));
      break;
    case 'cut':
    case 'calm':
      proxy[name]();
      break;
    case 'refuse':
    case 'accept':
      await proxy[name]();
      break;
    case 'status':
      break;
    default:
      throw new CommandError(`There is no command "${name}"; there are:\n${commandHelp}`);
  }
  return `${proxy.connections} connections are open`;
}

function readNumber(text: string | undefined, least = 0): number {
  const number = Number(text);
  if (text === undefined || text === '' || !Number.isFinite(number) || number < least) {
    throw new CommandError(`A number of at least ${least} is needed; it is "${text ?? ''}"`);
  }
  return number;
}

function readDirection(text: string | undefined): Direction | undefined {
  const direction = directions.find((one) => one === text);
  if (text !== undefined && !direction)
    throw new CommandError(`A direction is ${directions.join(' or ')}, not "${text}"`);
  return direction;
}
