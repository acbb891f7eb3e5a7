import { UsageError } from '@sluice/service-runtime/command-line';
import { type ChaosProxy, type Direction, directions } from '@sluice/testing';

type Command = [usage: string, what: string, run: (proxy: ChaosProxy, words: (string | undefined)[]) => unknown];

const commands: readonly Command[] = [
  [
    'latency MS [JITTER]',
    'each byte takes so long, and up to JITTER more',
    (proxy, [ms, jitter = '0']) => proxy.disturb({ latencyMs: readNumber(ms), jitterMs: readNumber(jitter) }),
  ],
  [
    'bandwidth BYTES',
    'so many bytes a second',
    (proxy, [bytes]) => proxy.disturb({ bytesPerSecond: readNumber(bytes, 1) }),
  ],
  [
    'stall [DIRECTION]',
    'hold what comes (to-server or to-client; both if left out)',
    (proxy, [direction]) => proxy.stall(readDirection(direction)),
  ],
  [
    'truncate N [DIRECTION]',
    'end each connection after N bytes',
    (proxy, [bytes, direction]) => proxy.disturb({ truncateAtByte: readNumber(bytes) }, readDirection(direction)),
  ],
  ['cut', 'reset every open connection', (proxy) => proxy.cut()],
  ['refuse', 'refuse new connections', (proxy) => proxy.refuse()],
  ['accept', 'take them again', (proxy) => proxy.open()],
  ['calm', 'undisturbed from now on; what was held is delivered', (proxy) => proxy.calm()],
  ['status', 'how many connections are open', () => undefined],
];

export const commandHelp = commands.map(([usage, what]) => `  ${usage.padEnd(24)} ${what}`).join('\n');

/**
 * Does what a line says.
 * @returns what to tell the person who typed it.
 * @throws {UsageError}
 */
export async function runChaosCommand(line: string, proxy: ChaosProxy): Promise<string> {
  const [name = '', ...words] = line.trim().split(/\s+/);
  const [, , run] = commands.find(([usage]) => usage.split(' ')[0] === name) ?? [];
  if (!run) throw new UsageError(`There is no command "${name}"; there are:\n${commandHelp}`);
  await run(proxy, words);
  return `${proxy.connections} connections are open`;
}

function readNumber(text = '', least = 0): number {
  const number = Number(text);
  if (text !== '' && Number.isFinite(number) && number >= least) return number;
  throw new UsageError(`A number of at least ${least} is needed; it is "${text}"`);
}

function readDirection(text: string | undefined): Direction | undefined {
  const direction = directions.find((one) => one === text);
  if (text === direction) return direction;
  throw new UsageError(`A direction is ${directions.join(' or ')}, not "${text}"`);
}
