import { Garbage } from '../garbage.ts';
import { comparable, displayCode } from './intl-texts.ts';
import { forDates, withDefault } from './locales-of-dates.ts';
import { text } from './parameters.ts';

/** Limit for locales and options of one formatter as JSON; honest ones are shorter. */
const longestDescription = 4_096;
/** A decimal is formatted digit by digit, so longer ones take too long. */
const longestNumber = 1_000;
const mostFormatters = 32;
/**
 * Size of the largest, those of ranges of dates. They are outside V8's heap, so V8 does not see how much memory it
 * could free.
 */
const formatterBytes = 100 * 2 ** 10;

interface Type {
  make: (locales: string[], options: object) => object;
  methods: readonly string[];
  /** Refuses parameters that would keep Node.js busy without a way to stop it. */
  check?: (parameter: unknown) => unknown;
}

const types: Record<string, Type> = {
  NumberFormat: {
    make: (locales, options) => new Intl.NumberFormat(locales, options),
    methods: ['format', 'formatToParts', 'formatRange', 'formatRangeToParts', 'resolvedOptions'],
  },
  DateTimeFormat: {
    make: (locales, options) => new Intl.DateTimeFormat(...forDates(locales, options)),
    methods: ['format', 'formatToParts', 'formatRange', 'formatRangeToParts', 'resolvedOptions'],
  },
  PluralRules: {
    make: (locales, options) => new Intl.PluralRules(locales, options),
    methods: ['select', 'selectRange', 'resolvedOptions'],
  },
  ListFormat: {
    make: (locales, options) => new Intl.ListFormat(locales, options),
    methods: ['format', 'formatToParts', 'resolvedOptions'],
  },
  RelativeTimeFormat: {
    make: (locales, options) => new Intl.RelativeTimeFormat(locales, options),
    methods: ['format', 'formatToParts', 'resolvedOptions'],
  },
  Collator: {
    make: (locales, options) => new Intl.Collator(locales, options),
    methods: ['compare', 'resolvedOptions'],
    check: comparable,
  },
  DisplayNames: {
    // Without a type Node.js throws, and the guest gets that error.
    make: (locales, options) => new Intl.DisplayNames(locales, options as Intl.DisplayNamesOptions),
    methods: ['of', 'resolvedOptions'],
    check: displayCode,
  },
};

/** Shared by all guests of the thread, because a formatter holds nothing but its locales and options. */
const formatters = new Map<string, object>();
let garbage: Garbage | undefined;

export const intlOperations = {
  'intl.call': (type: unknown, locales: unknown, options: unknown, method: unknown, parameters: unknown) => {
    const formatter = formatterOf(text(type), locales, options);
    const known = types[text(type)];
    if (!known?.methods.includes(text(method))) throw new TypeError('Unknown method of Intl');
    const run: unknown = Reflect.get(formatter, text(method));
    if (typeof run !== 'function') throw new TypeError('Unknown method of Intl');
    const given = listOf(parameters);
    if (known.check) given.forEach(known.check);
    return Reflect.apply(run, formatter, given.map(crossed));
  },
  'intl.supported': (type: unknown, locales: unknown) => {
    const name = text(type);
    if (!Object.hasOwn(types, name)) throw new TypeError('Unknown type of Intl');
    const { supportedLocalesOf } = Reflect.get(Intl, name) as typeof Intl.NumberFormat;
    return supportedLocalesOf(described(locales, {}).locales);
  },
  'intl.canonical': (locales: unknown) => Intl.getCanonicalLocales(described(locales, {}).locales),
  'intl.number': (value: unknown, locales: unknown, options: unknown) => {
    const number = crossed(value);
    const exact = typeof number === 'bigint' ? number : Number(number);
    const given = described(locales, options);
    return formatted(exact, `${typeof exact}.toLocaleString`, {
      given,
      native: () => exact.toLocaleString(withDefault(given.locales), given.options),
      make: () => new Intl.NumberFormat(withDefault(given.locales), given.options),
    });
  },
  'intl.date': (value: unknown, method: unknown, locales: unknown, options: unknown) => {
    const fields = fieldsOfDate.find(({ name }) => name === method);
    if (!fields) throw new TypeError('Unknown method of a date');
    if (value === null) return 'Invalid Date';
    const given = described(locales, options);
    return formatted(Number(value), fields.name, {
      given,
      native: () => new Date(Number(value))[fields.name](...forDates(withDefault(given.locales), given.options)),
      make: () => new Intl.DateTimeFormat(...forDates(withDefault(given.locales), filledIn(fields, given.options))),
    });
  },
  'intl.compare': (left: unknown, right: unknown, locales: unknown, options: unknown) => {
    const given = described(locales, options);
    return comparable(left).localeCompare(comparable(right), withDefault(given.locales), given.options);
  },
  'intl.case': (value: unknown, isUpper: unknown, locales: unknown) => {
    const given = withDefault(described(locales, {}).locales);
    return isUpper ? text(value).toLocaleUpperCase(given) : text(value).toLocaleLowerCase(given);
  },
};

const dayFields = ['year', 'month', 'day'];
const timeFields = ['hour', 'minute', 'second'];
/** If the options have none of the fields `any`, the method shows the fields `added`. */
const fieldsOfDate = [
  {
    name: 'toLocaleString',
    any: ['weekday', ...dayFields, 'dayPeriod', ...timeFields, 'fractionalSecondDigits', 'dateStyle', 'timeStyle'],
    added: [...dayFields, ...timeFields],
  },
  { name: 'toLocaleDateString', any: ['weekday', ...dayFields, 'dateStyle'], added: dayFields },
  {
    name: 'toLocaleTimeString',
    any: ['dayPeriod', ...timeFields, 'fractionalSecondDigits', 'timeStyle'],
    added: timeFields,
  },
] as const;

/** The options of the formatter that a method of dates uses (ECMA-402, CreateDateTimeFormat). */
function filledIn({ any, added }: (typeof fieldsOfDate)[number], options: object): object {
  if (any.some((field) => field in options)) return options;
  return { ...options, ...Object.fromEntries(added.map((field) => [field, 'numeric'])) };
}

type Formatter<T> = { format(value: T): string };

/** Formats by the method of Node.js the first time, because its errors name it, and then by an equal formatter. */
function formatted<T>(
  value: T,
  method: string,
  { given, native, make }: { given: Description; native: () => string; make: () => Formatter<T> },
): string {
  const key = JSON.stringify([method, given.locales, given.options]);
  const formatter = formatters.get(key) as Formatter<T> | undefined;
  if (formatter) return keep(key, formatter).format(value);
  makeRoom();
  const text = native();
  keep(key, make());
  return text;
}

function formatterOf(type: string, locales: unknown, options: unknown): object {
  if (!Object.hasOwn(types, type)) throw new TypeError('Unknown type of Intl');
  const given = described(locales, options);
  const key = JSON.stringify([type, given.locales, given.options]);
  const known = formatters.get(key);
  if (known) return keep(key, known);
  makeRoom();
  const formatter = types[type]?.make(withDefault(given.locales), given.options);
  if (!formatter) throw new TypeError('Unknown type of Intl');
  return keep(key, formatter);
}

/** Call it before a formatter is made. */
function makeRoom(): void {
  garbage ??= new Garbage();
  garbage.collect();
  garbage.add(formatterBytes);
}

function keep<T extends object>(key: string, formatter: T): T {
  formatters.delete(key);
  formatters.set(key, formatter);
  const [oldest = ''] = formatters.keys();
  if (formatters.size > mostFormatters) formatters.delete(oldest);
  return formatter;
}

interface Description {
  locales: string[];
  options: object;
}

/** Checks only the length of locales and options; Node.js checks the rest. */
function described(locales: unknown, options: unknown): Description {
  if (JSON.stringify([locales, options]).length > longestDescription) {
    throw new RangeError('The locales and options are too long');
  }
  return { locales: listOf(locales) as string[], options: options as object };
}

/** BigInts and numbers that JSON lacks arrive as `{ bigint }` and `{ number }`. */
function crossed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if ('bigint' in value) return BigInt(shortNumber(value.bigint));
  return 'number' in value ? Number(shortNumber(value.number)) : undefined;
}

function shortNumber(value: unknown): string {
  const digits = text(value);
  if (digits.length > longestNumber) throw new RangeError(`A number of more than ${longestNumber} digits`);
  return digits;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
