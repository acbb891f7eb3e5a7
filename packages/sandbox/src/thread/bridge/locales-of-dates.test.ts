import { slow } from '@sluice/testing';
import { forDates } from './locales-of-dates.ts';

const calendars = [...Intl.supportedValuesOf('calendar'), 'nope'];
const systems = [...Intl.supportedValuesOf('numberingSystem'), 'nope'];

/** What Node.js would keep after every calendar and numbering system was tried, in both places where one can be said. */
function keptFor(locale: string): Set<string> {
  const kept = new Set<string>();
  const note = (tag: string, options: object) => {
    try {
      const [[needed = ''], { calendar, numberingSystem }] = forDates([tag, 'en-US'], options);
      const given = new Intl.Locale(needed);
      kept.add([given.baseName, calendar ?? given.calendar, numberingSystem ?? given.numberingSystem].join(' '));
    } catch (error) {
      expect(String(error)).toMatch(`RangeError: Dates in ${locale} have no `);
    }
  };
  for (const calendar of calendars) {
    for (const numberingSystem of systems) {
      note(`${locale}-u-ca-${calendar}-nu-${numberingSystem}`, {});
      note(locale, { calendar, numberingSystem });
    }
  }
  return kept;
}

slow('0.6 s').each([
  ['de', ['de  ', 'de iso8601 ']],
  ['ja-JP', ['ja-JP  ', 'ja-JP japanese ', 'ja-JP iso8601 ']],
  ['fa', ['', 'gregory', 'iso8601'].flatMap((calendar) => ['', 'latn'].map((system) => `fa ${calendar} ${system}`))],
])('of %s, Node.js keeps only what people use', (locale, kept) => {
  expect([...keptFor(locale)].toSorted()).toEqual(kept.toSorted());
});

test('a locale that Node.js does not know has the choices of the one that stands in for it', () => {
  expect(() => forDates(['de-TH-u-ca-buddhist'], {})).toThrow(
    'Dates in de have no calendar buddhist: use gregory, iso8601',
  );
  expect(() => forDates(['xx-TH', 'en-US'], { calendar: ['buddhist'] })).toThrow(RangeError);
});

test('options go before what the locale says', () => {
  expect(forDates(['ja-u-ca-japanese-hc-h23'], { calendar: 'GREGORY', era: 'short' })).toEqual([
    ['ja-u-hc-h23'],
    { era: 'short' },
  ]);
});
