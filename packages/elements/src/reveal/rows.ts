import { showNumber } from '../field/cards.ts';

/** A value to show, and the text that copying it gives. */
export interface Row {
  /** Empty where a token is one value. */
  name: string;
  shown: string;
  copied: string;
}

/** One row for each member of a token's data; one for data that is no object. */
export function rowsOf(type: unknown, data: unknown): Row[] {
  if (type === 'card_number') return [row('', data, showNumber(String(data)))];
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return [row('', data)];
  const { number, expiration_month: month, expiration_year: year, ...others } = data as Record<string, unknown>;
  if (type !== 'card') return Object.entries(data).map(([name, value]) => row(name, value));
  const expiry = `${String(month).padStart(2, '0')} / ${String(year).slice(-2)}`;
  return [
    row('number', number, showNumber(String(number))),
    ...(month === undefined || year === undefined ? [] : [row('expiry', expiry)]),
    ...Object.entries(others).map(([name, value]) => row(name, value)),
  ];
}

function row(name: string, value: unknown, shown?: string): Row {
  const copied = typeof value === 'string' ? value : JSON.stringify(value);
  return { name, shown: shown ?? copied, copied };
}
