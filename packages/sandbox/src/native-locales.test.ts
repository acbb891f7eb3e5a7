import { setTimeout as wait } from 'node:timers/promises';
import { eventually, slow } from '@sluice/testing';
import { openTestPool } from './testing/test-pool.ts';

const pool = openTestPool({ limits: { cpuMs: 500 } });
const patientPool = openTestPool({ limits: { cpuMs: 60_000 } });
beforeAll(() => Promise.all([pool.ready(), patientPool.ready()]));
afterAll(() => Promise.all([pool.close(), patientPool.close()]));

async function isIdle(): Promise<boolean> {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  await wait(100);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 < (performance.now() - startedAt) / 2;
}

const marks = "const n = 32000, a = 'a' + '\\u0301\\u0316'.repeat(n), b = 'a' + '\\u0316\\u0301'.repeat(n)";

test.each([
  ['marks in another order', `${marks}; a.localeCompare(b)`, /More than 64 combining marks/],
  ['marks in a collator', `${marks}; [a, b].sort(new Intl.Collator('vi').compare)`, /More than 64 combining marks/],
  ['a text of megabytes', "'a'.repeat(3e6).localeCompare('b', 'de')", /too long to be compared/],
  [
    'a name of a locale with many variants',
    "new Intl.DisplayNames('en', { type: 'language' }).of('en' + Array.from({ length: 32000 }, (_, i) => '-' + (10000 + i)).join(''))",
    /code is too long/,
  ],
])('%s is refused, because Node.js could not be stopped', async (_, statements, message) => {
  const error = await pool.failure(`module.exports = () => { ${statements} }`);
  expect(error.detail).toMatch(message);
  await eventually('no thread works', isIdle);
});

test('texts of people are compared as by Node.js', async () => {
  const statements = `const all = ['Ze\u0301', 'Z' + '\u0301\u0316'.repeat(32), 'Z' + '\u0316\u0301'.repeat(32), 'zé', '각', 'กำ', 'हिन्दी', 'e'.repeat(1e5)];
    return [all.toSorted((a, b) => a.localeCompare(b, 'de')), all.toSorted(new Intl.Collator('vi').compare)]`;
  expect(await pool.evaluate(statements)).toEqual(new Function(statements)());
});

test('a calendar or numbering system that is not of the locale is refused for dates, by its name', async () => {
  const statements = `const tries = [() => new Intl.DateTimeFormat('fr-u-ca-coptic'), () => new Date(0).toLocaleString('fr', { calendar: 'hebrew' }),
      () => new Date(0).toLocaleDateString('fr-u-nu-beng'), () => new Intl.DateTimeFormat('fr', { numberingSystem: 'thai' })];
    return tries.map((f) => { try { return f() } catch (error) { return [error.name, error.message].join(': ') } })`;
  expect(await pool.evaluate(statements)).toEqual([
    'RangeError: Dates in fr have no calendar coptic: use gregory, iso8601',
    'RangeError: Dates in fr have no calendar hebrew: use gregory, iso8601',
    'RangeError: Dates in fr have no numberingSystem beng: use latn',
    'RangeError: Dates in fr have no numberingSystem thai: use latn',
  ]);
});

test('what a locale has anyway may be said', async () => {
  const statements = `const day = new Date(951782400000); const options = { timeZone: 'UTC', dateStyle: 'full' };
    return [day.toLocaleDateString('de-u-ca-gregory-nu-latn', options), day.toLocaleDateString('th', { ...options, calendar: 'buddhist' }),
      new Intl.DateTimeFormat(['ar-EG-u-nu-arab-ca-gregory', 'de'], options).format(day), day.toLocaleDateString('ja-u-ca-japanese', { ...options, calendar: 'gregory' })]`;
  expect(await pool.evaluate(statements)).toEqual(new Function(statements)());
});

slow('2.3 s')('formatters that are used no more are freed while a run goes on', async () => {
  const format = (
    count: number,
  ) => `const choices = ['long', 'short', 'narrow']; const pick = (i, size) => choices[Math.floor(i / size) % 3];
    for (let i = 0; i < ${count}; i += 1) {
      const options = { timeZone: 'UTC', month: pick(i, 1), weekday: pick(i, 3), era: pick(i, 9), hour: 'numeric', fractionalSecondDigits: 1 + Math.floor(i / 27) % 3 };
      new Intl.DateTimeFormat(['de', 'fr', 'ja', 'en'][i % 4], options).formatRange(0, 1e12);
    }
    return null;`;
  await patientPool.evaluate(format(100));
  const startBytes = process.memoryUsage().rss;
  await patientPool.evaluate(format(2_000));
  expect(process.memoryUsage().rss - startBytes).toBeLessThan(100 * 2 ** 20);
});
