import { slow } from '@sluice/testing';
import { openTestPool } from '../test-pool.ts';

const pool = openTestPool({ limits: { cpuMs: 30_000 } });
beforeAll(() => pool.ready());
afterAll(() => pool.close());

const locales = ['undefined', ...['en-US', 'en-GB', 'de-DE', 'fr-FR', 'es-ES', 'ja-JP'].map((name) => `'${name}'`)];
/** Beside those that are promised: what Node.js makes of others, of lists, extensions and errors. */
const otherLocales = [
  "'ar-EG'",
  "'hi-IN'",
  "'tr'",
  "'zh-Hant'",
  "'xx-YY'",
  "['xx', 'de']",
  '[]',
  "'no_such'",
  'null',
  '[5]',
];
const extendedForNumbers = ["'de-u-nu-arab'"];
/** Of those that dates may have. */
const extendedForDates = [
  "'ja-JP-u-ca-japanese'",
  "'ar-EG-u-nu-latn'",
  "'fa-u-ca-gregory-hc-h12'",
  "'en-u-hc-h23-x-own'",
  "['xx', 'th-u-ca-gregory']",
  "'sv-u-ca-iso8601'",
];

const numbers =
  '[0, -0, 1, -1.5, 1234.5678, 1e21, 123456789.125, 0.000012345, NaN, -Infinity, 12345678901234567890n, -5n]';
const numberOptions = [
  'undefined',
  '{}',
  "{ style: 'currency', currency: 'EUR' }",
  "{ style: 'currency', currency: 'JPY', currencyDisplay: 'name' }",
  "{ style: 'currency', currency: 'USD', currencySign: 'accounting', minimumFractionDigits: 3 }",
  "{ style: 'percent', maximumFractionDigits: 1 }",
  "{ style: 'unit', unit: 'kilometer-per-hour', unitDisplay: 'long' }",
  "{ notation: 'compact', compactDisplay: 'long' }",
  "{ notation: 'scientific', maximumSignificantDigits: 3 }",
  '{ minimumIntegerDigits: 4, useGrouping: false }',
  "{ signDisplay: 'exceptZero', roundingMode: 'floor', maximumFractionDigits: 0 }",
  "{ style: 'currency' }",
  "{ style: 'nope' }",
  '{ maximumFractionDigits: 101 }',
  "{ currency: 'E', style: 'currency' }",
  'null',
];

const dates = '[0, -1, 951782400000, 1719849599999, 8.64e15, NaN].map((ms) => new Date(ms))';
const dateOptions = [
  'undefined',
  '{}',
  "{ timeZone: 'UTC' }",
  "{ timeZone: 'Asia/Tokyo', dateStyle: 'full', timeStyle: 'long' }",
  "{ timeZone: 'America/New_York', dateStyle: 'short' }",
  "{ timeZone: 'Europe/Berlin', weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }",
  "{ timeZone: 'UTC', hour: '2-digit', minute: '2-digit', hour12: false }",
  "{ timeZone: 'UTC', hour: 'numeric', hourCycle: 'h23', timeZoneName: 'short' }",
  "{ timeZone: 'UTC', month: 'short', day: 'numeric', era: 'short' }",
  "{ timeZone: 'UTC', minute: 'numeric', second: 'numeric', fractionalSecondDigits: 3 }",
  "{ timeZone: 'UTC', dayPeriod: 'long', hour: 'numeric' }",
  "{ timeZone: 'No/Where' }",
  "{ dateStyle: 'full', year: 'numeric' }",
  "{ month: 'nope' }",
  "{ calendar: 'gregory', numberingSystem: 'latn', era: 'short' }",
  "{ calendar: 'iso8601', localeMatcher: 'lookup' }",
];

/** Expressions of `locale` and `options`, and the options that each is tried with. */
const expressions: [name: string, expression: string, options: readonly string[]][] = [
  ['numbers to text', `${numbers}.map((n) => n.toLocaleString(locale, options))`, numberOptions],
  ['numbers by a formatter', `${numbers}.map(new Intl.NumberFormat(locale, options).format)`, numberOptions],
  ['parts of numbers', `${numbers}.map((n) => Intl.NumberFormat(locale, options).formatToParts(n))`, numberOptions],
  ['ranges of numbers', 'new Intl.NumberFormat(locale, options).formatRange(3, 5.5)', numberOptions],
  ['what number formatters resolve', 'new Intl.NumberFormat(locale, options).resolvedOptions()', numberOptions],
  [
    'lists of numbers',
    '[[1234.5, null, [2e6]].toLocaleString(locale, options), new Float64Array([1234.5]).toLocaleString(locale, options)]',
    numberOptions,
  ],
  ['dates to text', `${dates}.map((d) => d.toLocaleString(locale, options))`, dateOptions],
  ['dates to text of the day', `${dates}.map((d) => d.toLocaleDateString(locale, options))`, dateOptions],
  ['dates to text of the time', `${dates}.map((d) => d.toLocaleTimeString(locale, options))`, dateOptions],
  ['dates by a formatter', `${dates}.slice(0, 5).map(new Intl.DateTimeFormat(locale, options).format)`, dateOptions],
  ['parts of dates', 'Intl.DateTimeFormat(locale, options).formatToParts(new Date(951782400000))', dateOptions],
  ['ranges of dates', 'new Intl.DateTimeFormat(locale, options).formatRange(0, 1e12)', dateOptions],
  ['invalid times', 'new Intl.DateTimeFormat(locale, options).format(NaN)', dateOptions],
  ['what date formatters resolve', 'new Intl.DateTimeFormat(locale, options).resolvedOptions()', dateOptions],
  [
    'plurals',
    '[0, 1, 2, 3, 11, 21, 1.5].map((n) => new Intl.PluralRules(locale, options).select(n))',
    ['undefined', "{ type: 'ordinal' }"],
  ],
  [
    'lists of texts',
    "[[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map((l) => new Intl.ListFormat(locale, options).format(l))",
    ['undefined', "{ type: 'disjunction', style: 'short' }"],
  ],
  [
    'relative times',
    "[-1, 0, 1, 5.5, -0].map((n) => new Intl.RelativeTimeFormat(locale, options).format(n, 'day'))",
    ['undefined', "{ numeric: 'auto' }"],
  ],
  [
    'order of texts',
    "['b', 'a', 'Z', 'ä', 'z', '10', '9', 'é', 'e', 'E'].sort(new Intl.Collator(locale, options).compare)",
    ['undefined', '{ numeric: true }', "{ sensitivity: 'base' }"],
  ],
  [
    'comparison of texts',
    "['b', 'a', 'Z', 'ä', 'z', '10', '9'].sort((x, y) => x.localeCompare(y, locale, options))",
    ['undefined', '{ numeric: true }'],
  ],
  ['case of texts', "['iIßİ'.toLocaleUpperCase(locale), 'IİΣ'.toLocaleLowerCase(locale)]", ['undefined']],
  [
    'names',
    "new Intl.DisplayNames(locale, options).of('US')",
    ["{ type: 'region' }", "{ type: 'currency', fallback: 'none' }", '{}', 'undefined'],
  ],
  ['known locales', '[Intl.NumberFormat.supportedLocalesOf(locale), Intl.getCanonicalLocales(locale)]', ['undefined']],
];

slow('0.5 s').each(expressions)('%s as in Node.js, in every locale', async (_, expression, options) => {
  const extended = options === dateOptions ? extendedForDates : extendedForNumbers;
  const cases = [...locales, ...otherLocales, ...extended].flatMap((locale) =>
    options.map((given) => `[${locale}, ${given}]`),
  );
  const statements = `return [${cases}].map(([locale, options]) => { try { return ${expression} } catch (error) { return [error.name, error.message] } })`;
  const expected: unknown[] = JSON.parse(JSON.stringify(new Function(statements)()));
  const answers = (await pool.evaluate(statements)) as unknown[];
  expect(answers).toHaveLength(expected.length);
  const different = cases.flatMap((one, index) =>
    JSON.stringify(answers[index]) === JSON.stringify(expected[index])
      ? []
      : [{ one, node: expected[index], sandbox: answers[index] }],
  );
  expect({ different: different.length, examples: different.slice(0, 3) }).toEqual({ different: 0, examples: [] });
});

test('forms of objects that code looks at', async () => {
  const statements = `const f = new Intl.NumberFormat('de'); return [Object.prototype.toString.call(f), String(Intl), f instanceof Intl.NumberFormat, typeof Intl.DateTimeFormat().format,
    (() => { try { Intl.PluralRules() } catch (error) { return error.name } })(), (() => { try { Intl.NumberFormat.prototype.formatToParts.call({}, 1) } catch (error) { return error.name } })()]`;
  expect(await pool.evaluate(statements)).toEqual(JSON.parse(JSON.stringify(new Function(statements)())));
});

test.each([
  [
    'locales and options that are long',
    "new Intl.NumberFormat('de-x-' + Array(2e3).fill('abc').join('-'))",
    /too long|Incorrect locale/,
  ],
  ['a number with many digits', "new Intl.NumberFormat('de').format(10n ** 5000n)", /more than 1000 digits/],
  [
    'a formatter that is none',
    "Intl.DateTimeFormat.prototype.formatToParts.call(new Intl.NumberFormat('de'))",
    /incompatible receiver/,
  ],
])('%s is refused', async (_, statements, message) => {
  expect((await pool.failure(`module.exports = () => { ${statements} }`)).detail).toMatch(message);
});

test('a number as text of any length costs no more than its digits', async () => {
  const code =
    "return ['1e400000000', '9'.repeat(1e5), '0x10', ' 12 ', ''].map((text) => new Intl.NumberFormat('en').format(text))";
  expect(await pool.evaluate(code)).toEqual(['∞', '∞', '16', '12', '0']);
});
