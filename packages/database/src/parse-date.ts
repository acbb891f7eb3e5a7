const pattern = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** ISO 8601, in UTC without a zone. Undefined otherwise, and outside UTC years 1 to 9999, which Postgres refuses. */
export function parseDate(text: string): Date | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [, year, month, day, time = '00:00', zone = 'Z'] = match;
  const offset = zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const moment = new Date(`${year}-${month}-${day}T${time}${offset}`);
  // Date reads 31 April as 1 May.
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const utcYear = moment.getUTCFullYear();
  return utcYear >= 1 && utcYear <= 9999 && Number(day) <= lastDay ? moment : undefined;
}
