/**
 * `Intl`, and the methods of numbers, dates and texts that depend on a locale. QuickJS has none of them, so Node.js
 * computes them, in all its locales. The default is always en-US, whatever the environment of the service.
 */
import { bridge, bridgeText } from './host.js';

/** Every option that one of the constructors reads. */
const optionNames =
  `calendar caseFirst collation compactDisplay currency currencyDisplay currencySign dateStyle day dayPeriod era fallback
  formatMatcher fractionalSecondDigits hour hour12 hourCycle ignorePunctuation languageDisplay localeMatcher maximumFractionDigits
  maximumSignificantDigits minimumFractionDigits minimumIntegerDigits minimumSignificantDigits minute month notation numberingSystem
  numeric roundingIncrement roundingMode roundingPriority second sensitivity signDisplay style timeStyle timeZone timeZoneName
  trailingZeroDisplay type unit unitDisplay usage useGrouping weekday year`.split(/\s+/);

/** The most digits that the host accepts. */
const plainDecimal = /^\s*[+-]?(?=[\d.])\d{0,300}(\.\d{0,300})?\s*$/;

/** @param {unknown} locales */
function localesOf(locales) {
  if (locales === undefined) return [];
  if (typeof locales === 'string') return [locales];
  if (locales === null) throw new TypeError('Cannot convert undefined or null to object');
  return Array.from(/** @type {ArrayLike<unknown>} */ (locales), (locale) =>
    typeof locale === 'object' && locale !== null ? String(locale) : locale,
  );
}

/** @param {unknown} options */
function optionsOf(options) {
  if (options === null) return null;
  /** @type {Record<string, unknown>} */
  const copy = {};
  if (typeof options !== 'object' && typeof options !== 'function') return copy;
  for (const name of optionNames) {
    const value = Reflect.get(options, name);
    if (value === undefined) continue;
    copy[name] = typeof value === 'boolean' || Number.isFinite(value) ? value : String(value);
  }
  return copy;
}

/** The form in which a number reaches the host. @param {unknown} given */
function numberOf(given) {
  const value = typeof given === 'object' && given !== null ? given.valueOf() : given;
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (typeof value === 'string' && plainDecimal.test(value) && /\d/.test(value)) return value.trim();
  const number = Number(value);
  if (Object.is(number, -0)) return { number: '-0' };
  return Number.isFinite(number) ? number : { number: String(number) };
}

/** @param {unknown} date */
const timeOf = (date) => numberOf(date === undefined ? Date.now() : Number(date));

/** @param {unknown} list @returns {unknown[]} */
function textsOf(list) {
  return Array.from(/** @type {Iterable<unknown>} */ (list ?? []), (item) => {
    if (typeof item !== 'string') throw new TypeError('Iterable yielded a non-String value');
    return item;
  });
}

/** How the parameters of each method are sent to the host; the types share all other methods. */
const crossings = {
  /** @param {unknown[]} values */
  numbers: (values) => values.map(numberOf),
  /** @param {unknown[]} values */
  times: (values) => values.map(timeOf),
  /** @param {unknown[]} values */
  list: ([list]) => [textsOf(list)],
  /** @param {unknown[]} values */
  amount: ([value, unit]) => [numberOf(Number(value)), String(unit)],
  /** @param {unknown[]} values */
  texts: (values) => values.map(String),
};

/** @typedef {{ type: string, locales: unknown[], options: object | null }} Description */
/** @type {WeakMap<object, Description>} */
const descriptions = new WeakMap();

/** @param {object} formatter @param {string} type @param {string} method @param {unknown[]} parameters */
function call(formatter, type, method, parameters) {
  const description = descriptions.get(formatter);
  if (description?.type !== type)
    throw new TypeError(`Method Intl.${type}.prototype.${method} called on incompatible receiver`);
  return bridge('intl.call', type, description.locales, description.options, method, parameters);
}

/**
 * @param {string} type
 * @param {{ cross: (values: unknown[]) => unknown[], methods: Record<string, number>, bound?: string, needsNew?: boolean }} form
 *   Methods by the number of their parameters. The bound one is a getter, so that code can pass it on.
 */
function constructorOf(type, { cross, methods, bound, needsNew = false }) {
  /** @type {(this: unknown, locales?: unknown, options?: unknown) => unknown} */
  const Format = function (locales, options) {
    if (new.target === undefined && needsNew) throw new TypeError(`Constructor Intl.${type} requires 'new'`);
    const formatter = new.target === undefined ? Object.create(Format.prototype) : this;
    const description = { type, locales: localesOf(locales), options: optionsOf(options) };
    bridge('intl.call', type, description.locales, description.options, 'resolvedOptions', []);
    descriptions.set(formatter, description);
    return formatter;
  };
  Object.defineProperty(Format, 'name', { value: type, configurable: true });
  hidden(Format, 'supportedLocalesOf', (/** @type {unknown} */ locales) =>
    bridge('intl.supported', type, localesOf(locales)),
  );
  hidden(Format.prototype, 'resolvedOptions', function () {
    return call(this, type, 'resolvedOptions', []);
  });
  for (const [name, count] of Object.entries(methods)) {
    /** @param {object} formatter @param {unknown[]} values */
    const run = (formatter, values) => call(formatter, type, name, cross(values.slice(0, count)));
    if (name === bound) defineBound(Format.prototype, name, run);
    else
      hidden(Format.prototype, name, function (first, second) {
        return run(this, [first, second]);
      });
  }
  Object.defineProperty(Format.prototype, Symbol.toStringTag, { value: `Intl.${type}`, configurable: true });
  return Format;
}

/** @param {object} prototype @param {string} name @param {(formatter: object, values: unknown[]) => unknown} run */
function defineBound(prototype, name, run) {
  Object.defineProperty(prototype, name, {
    /** @this {object} */
    get() {
      /** @param {unknown} first @param {unknown} second */
      return (first, second) => run(this, [first, second]);
    },
    configurable: true,
  });
}

/** @param {object} object @param {string} name @param {(this: object, ...values: unknown[]) => unknown} value */
function hidden(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true });
}

const ranges = { format: 1, formatToParts: 1, formatRange: 2, formatRangeToParts: 2 };

const intl = {
  NumberFormat: constructorOf('NumberFormat', { cross: crossings.numbers, methods: ranges, bound: 'format' }),
  DateTimeFormat: constructorOf('DateTimeFormat', { cross: crossings.times, methods: ranges, bound: 'format' }),
  Collator: constructorOf('Collator', { cross: crossings.texts, methods: { compare: 2 }, bound: 'compare' }),
  PluralRules: constructorOf('PluralRules', {
    cross: crossings.numbers,
    methods: { select: 1, selectRange: 2 },
    needsNew: true,
  }),
  ListFormat: constructorOf('ListFormat', {
    cross: crossings.list,
    methods: { format: 1, formatToParts: 1 },
    needsNew: true,
  }),
  RelativeTimeFormat: constructorOf('RelativeTimeFormat', {
    cross: crossings.amount,
    methods: { format: 2, formatToParts: 2 },
    needsNew: true,
  }),
  DisplayNames: constructorOf('DisplayNames', { cross: crossings.texts, methods: { of: 1 }, needsNew: true }),
  /** @param {unknown} [locales] */
  getCanonicalLocales: (locales) => bridge('intl.canonical', localesOf(locales)),
};
Object.defineProperty(intl, Symbol.toStringTag, { value: 'Intl', configurable: true });

export { intl as Intl };

/** @param {unknown} value @param {unknown} locales @param {unknown} options */
const numberToText = (value, locales, options) =>
  bridgeText('intl.number', numberOf(value), localesOf(locales), optionsOf(options));

/** @param {string} method */
const dateToText =
  (method) =>
  /** @param {Date} date @param {unknown} locales @param {unknown} options */
  (date, locales, options) => {
    const time = Date.prototype.getTime.call(date);
    return bridgeText('intl.date', Number.isNaN(time) ? null : time, method, localesOf(locales), optionsOf(options));
  };

/** @param {boolean} isUpper */
const changeCase =
  (isUpper) =>
  /** @param {unknown} text @param {unknown} locales */
  (text, locales) => {
    const plain = String(text);
    if (locales === undefined) return isUpper ? plain.toUpperCase() : plain.toLowerCase();
    return bridgeText('intl.case', plain, isUpper, localesOf(locales));
  };

/** The methods of prototypes, by the class of their `this`, which comes first. @type {Record<string, Function>} */
export const localeMethods = {
  'Number.toLocaleString': (/** @type {unknown} */ value, /** @type {unknown[]} */ ...rest) =>
    numberToText(Number.prototype.valueOf.call(value), rest[0], rest[1]),
  'BigInt.toLocaleString': (/** @type {unknown} */ value, /** @type {unknown[]} */ ...rest) =>
    numberToText(BigInt.prototype.valueOf.call(value), rest[0], rest[1]),
  'Date.toLocaleString': dateToText('toLocaleString'),
  'Date.toLocaleDateString': dateToText('toLocaleDateString'),
  'Date.toLocaleTimeString': dateToText('toLocaleTimeString'),
  'Array.toLocaleString': listToText,
  'String.localeCompare': (
    /** @type {unknown} */ left,
    /** @type {unknown} */ right,
    /** @type {unknown} */ locales,
    /** @type {unknown} */ options,
  ) => bridge('intl.compare', String(left), String(right), localesOf(locales), optionsOf(options)),
  'String.toLocaleUpperCase': changeCase(true),
  'String.toLocaleLowerCase': changeCase(false),
};

/** @param {ArrayLike<unknown>} list @param {unknown} locales @param {unknown} options */
function listToText(list, locales, options) {
  return Array.from(list, (item) =>
    item === undefined || item === null ? '' : Object(item).toLocaleString(locales, options),
  ).join(',');
}
