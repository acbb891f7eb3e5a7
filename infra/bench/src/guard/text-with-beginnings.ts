import { type Random, seededRandom } from '@sluice/testing';

const seed = 16;

/**
 * JSON of this size. Every third row or so has the beginning of a value, in one of the forms that a guard looks for;
 * none has a whole value.
 */
export function textWithBeginnings(sizeBytes: number, values: readonly string[]): Buffer {
  const random = seededRandom(seed);
  const text = Buffer.alloc(sizeBytes, ' ');
  let at = text.write('[');
  for (;;) {
    const row = Buffer.from(`${JSON.stringify(rowOf(random, values))},\n`);
    if (at + row.length + lastRow.length > sizeBytes) break;
    at += row.copy(text, at);
  }
  text.write(lastRow, at);
  return text;
}

const lastRow = '{}]';

function rowOf(random: Random, values: readonly string[]): object {
  const digits = () => Math.floor(random.next() * 2 ** 32);
  return {
    id: `${digits().toString(16)}-${digits().toString(16)}`,
    account: digits(),
    status: random.pick(['accepted', 'refused', 'pending']),
    note: random.chance(0.33)
      ? beginningOf(random.pick(values), random)
      : 'Paid by transfer, see the statement of the month',
    amount: { value: digits() % 100_000, currency: random.pick(['EUR', 'USD', 'GBP']) },
  };
}

/** At least one character, and without the last ones, which in base64 may be those of another value. */
function beginningOf(value: string, random: Random): string {
  const bytes = Buffer.from(value);
  const form = random.pick([value, encodeURIComponent(value), bytes.toString('hex'), bytes.toString('base64url')]);
  return form.slice(0, Math.ceil(random.next() * (form.length - 3)));
}
