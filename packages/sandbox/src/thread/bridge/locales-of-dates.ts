/// <reference lib="esnext.intl" />
/**
 * Node.js keeps what it makes for dates until its process ends: about 40 KiB for each locale with each calendar and
 * numbering system. All locales as they are come to 70 MiB, with all that is allowed here to 125 MiB, and with all that
 * Node.js knows to tens of gigabytes. Of other formatters it keeps only what belongs to a locale.
 */

const defaultLocale = 'en-US';

/** Node.js would otherwise fall back to a locale that depends on the environment. */
export const withDefault = (locales: string[]): string[] => [...locales, defaultLocale];

/**
 * The same locales and options, less the calendar and numbering system that the locale has anyway, because Node.js would
 * keep it twice.
 * @throws {RangeError} for a calendar or numbering system that is not used with the locale.
 */
export function forDates(locales: string[], options: object): [string[], Intl.DateTimeFormatOptions] {
  const { calendar, numberingSystem, ...rest } = Object(options);
  // A formatter of numbers finds the same locale and refuses the same ones, and Node.js keeps nothing of it.
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

/** What a locale says is replaced by another option. */
const agreed = (ofLocale: string | undefined, option: unknown) =>
  option === undefined || option === ofLocale ? ofLocale : undefined;
