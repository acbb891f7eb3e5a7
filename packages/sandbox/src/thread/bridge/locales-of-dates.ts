/// <reference lib="esnext.intl" />
/**
 * Node.js stores data for dates until its process ends: about 40 KiB for each locale with each calendar and numbering
 * system. All plain locales take 70 MiB, everything allowed here 125 MiB, and everything that Node.js knows tens of
 * gigabytes. For other formatters it stores only data of a locale.
 */

const defaultLocale = 'en-US';

/** Node.js would otherwise fall back to a locale that depends on the environment. */
export const withDefault = (locales: string[]): string[] => [...locales, defaultLocale];

/**
 * The same locales and options, without the default calendar and numbering system of the locale, because Node.js would
 * store it twice.
 * @throws {RangeError} for a calendar or numbering system that is not used with the locale.
 */
export function forDates(locales: string[], options: object): [string[], Intl.DateTimeFormatOptions] {
  const { calendar, numberingSystem, ...rest } = Object(options);
  // A formatter of numbers finds and refuses the same locales, and Node.js stores nothing for it.
  const { locale } = new Intl.NumberFormat(locales, { localeMatcher: rest.localeMatcher }).resolvedOptions();
  const own = new Intl.Locale(new Intl.Locale(locale).baseName);
  const allowed = {
    // The first is the default, the second the traditional one of Japan, Israel and others.
    calendar: [...own.getCalendars().slice(0, 2), 'gregory', 'iso8601'],
    numberingSystem: [...own.getNumberingSystems(), 'latn'],
  };

  const needed = (name: keyof typeof allowed, requested: unknown) => {
    if (requested === undefined) return {};
    const choice = String(requested).toLowerCase();
    if (choice === allowed[name][0]) return {};
    if (allowed[name].includes(choice)) return { [name]: choice };
    const choices = [...new Set(allowed[name])].join(', ');
    throw new RangeError(`Dates in ${own} have no ${name} ${choice}: use ${choices}`);
  };

  const tags = locales.map((tag) => {
    const given = new Intl.Locale(tag);
    return new Intl.Locale(given.baseName, {
      ...(given.hourCycle && { hourCycle: given.hourCycle }),
      ...needed('calendar', agreed(given.calendar, calendar)),
      ...needed('numberingSystem', agreed(given.numberingSystem, numberingSystem)),
    }).toString();
  });
  if (Object(options) !== options) return [tags, options];
  return [tags, { ...rest, ...needed('calendar', calendar), ...needed('numberingSystem', numberingSystem) }];
}

/** Keeps the locale's value unless another option replaces it. */
const agreed = (ofLocale: string | undefined, option: unknown) =>
  option === undefined || option === ofLocale ? ofLocale : undefined;
