/** The global `process`, as far as libraries use it. There is no process here, so it emits no events. */
import { exported as EventEmitter } from './events.js';
import { bridge } from './host.js';
import { inspect } from './inspect.js';
import { afterwards } from './timers.js';
import { withUnavailable } from './unavailable.js';

/** The version of Node.js that transforms are written for. */
const nodeVersion = '16.20.2';

const milliseconds = () => /** @type {number} */ (bridge('clock'));
const nanoseconds = () => BigInt(Math.round(milliseconds() * 1e6));

/** Seconds and nanoseconds since `before`, or since the start. @param {[number, number]} [before] */
function hrtime(before) {
  const since = before ? BigInt(before[0]) * 1_000_000_000n + BigInt(before[1]) : 0n;
  const passed = nanoseconds() - since;
  return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)];
}
hrtime.bigint = nanoseconds;

/** @param {unknown} warning */
function emitWarning(warning) {
  globalThis.console.warn(warning instanceof Error ? inspect(warning) : `Warning: ${warning}`);
}

const members = {
  env: {},
  argv: ['node', 'transform.js'],
  execArgv: [],
  title: 'node',
  pid: 1,
  ppid: 0,
  arch: 'x64',
  platform: 'linux',
  version: `v${nodeVersion}`,
  versions: Object.freeze({ node: nodeVersion }),
  release: Object.freeze({ name: 'node' }),
  exitCode: undefined,
  /** @param {Function} callback @param {...unknown} parameters */
  nextTick: (callback, ...parameters) => void afterwards(callback, parameters),
  cwd: () => '/',
  uptime: () => milliseconds() / 1000,
  hrtime,
  emitWarning,
};

export const process = withUnavailable('process', Object.assign(Object.create(EventEmitter.prototype), members), [
  ...['abort', 'chdir', 'cpuUsage', 'exit', 'getegid', 'geteuid', 'getgid', 'getuid', 'kill'],
  ...['memoryUsage', 'resourceUsage', 'setuid', 'setgid', 'umask'],
]);

export const exported = process;
