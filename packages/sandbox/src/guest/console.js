/** `console`: each call prints one text; the host limits how much of it is kept. */
import { host, stringify } from './host.js';
import { format, inspect } from './inspect.js';

/** More than the host stores of one run. */
const maximumLength = 16_384;

/** @param {string} level */
const printer =
  (level) =>
  /** @param {...unknown} values */
  (...values) =>
    host.print(level, stringify(format(...values).slice(0, maximumLength)));

const error = printer('error');
/** @type {Record<string, number>} */
const counts = Object.create(null);
const nothing = () => {};

export const console = {
  log: printer('info'),
  info: printer('info'),
  debug: printer('debug'),
  warn: printer('warn'),
  error,
  trace: printer('debug'),
  /** @param {unknown} value @param {object} [options] */
  dir: (value, options) => printer('info')(inspect(value, options)),
  /** @param {unknown} condition @param {...unknown} values */
  assert: (condition, ...values) => {
    if (!condition) error('Assertion failed', ...values);
  },
  count: (label = 'default') => {
    counts[label] = (counts[label] ?? 0) + 1;
    printer('info')(`${label}: ${counts[label]}`);
  },
  table: printer('info'),
  group: printer('info'),
  groupEnd: nothing,
  time: nothing,
  timeEnd: nothing,
  timeLog: nothing,
};
