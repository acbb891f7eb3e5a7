import { exactText, fieldText, momentOf, relativeText } from './moment.ts';

const now = Date.parse('2036-05-10T12:00:00.000Z');
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [0, 'just now'],
  [-9 * second, 'just now'],
  [9 * second, 'just now'],
  [-10 * second, '10 seconds ago'],
  [-59 * second, '50 seconds ago'],
  [-minute, '1 minute ago'],
  [-59.9 * minute, '59 minutes ago'],
  [-hour, '1 hour ago'],
  [-23.9 * hour, '23 hours ago'],
  [-day, 'yesterday'],
  [-6.9 * day, '6 days ago'],
  [40 * second, 'in 40 seconds'],
  [90 * second, 'in 1 minute'],
  [2 * day, 'in 2 days'],
])('%d ms from now is "%s"', (distance, text) => {
  for (const zone of ['local', 'utc'] as const) {
    expect(relativeText(new Date(now + distance).toISOString(), now, zone)).toBe(text);
  }
});

test.each([-7 * day, 7 * day])('more than a week away (%d ms) is a date, in the zone', (distance) => {
  const at = new Date(now + distance);
  const options = { year: 'numeric', month: 'short', day: 'numeric' } as const;
  expect(relativeText(at.toISOString(), now, 'utc')).toBe(
    at.toLocaleDateString(undefined, { ...options, timeZone: 'UTC' }),
  );
  expect(relativeText(at.toISOString(), now, 'local')).toBe(at.toLocaleDateString(undefined, options));
});

test('an exact moment names its zone', () => {
  expect(exactText('2036-05-10T12:00:07.000Z', 'utc')).toMatch(/07.*UTC/);
});

test('a field shows and reads a moment in UTC', () => {
  expect(fieldText('2036-05-10T23:59:07.000Z', 'utc')).toBe('2036-05-10T23:59');
  expect(momentOf('2036-05-10T23:59', 'utc')).toBe('2036-05-10T23:59:00.000Z');
});

test('a field shows and reads a moment in the local zone', () => {
  const moment = momentOf('2036-05-10T23:59', 'local');
  expect(moment).toBe(new Date(2036, 4, 10, 23, 59).toISOString());
  expect(fieldText(moment, 'local')).toBe('2036-05-10T23:59');
});

test.each(['', '0002-01-01T00:00', 'tomorrow'])('"%s" is no complete moment', (text) => {
  expect(momentOf(text, 'utc')).toBeUndefined();
  expect(momentOf(text, 'local')).toBeUndefined();
});

test.each([undefined, '', 'tomorrow'])('a field shows nothing for %s', (value) => {
  expect(fieldText(value, 'utc')).toBe('');
});
