import type { Random } from '@sluice/testing';

export const digits = (random: Random, count: number) =>
  Array.from({ length: count }, () => Math.floor(random.between(0, 10))).join('');

/** With the check digit of ISO/IEC 7812-1. */
export function randomCardNumber(random: Random): string {
  const payload = `4${digits(random, 14)}`;
  const sum = [...payload].reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return payload + ((10 - (sum % 10)) % 10);
}

/** With the check digit of the ABA. */
export function randomRoutingNumber(random: Random): string {
  const payload = digits(random, 8);
  const weights = [3, 7, 1];
  const sum = [...payload].reduce((total, digit, i) => total + Number(digit) * (weights[i % 3] ?? 0), 0);
  return payload + ((10 - (sum % 10)) % 10);
}

/** Data of each type that passes its checks. */
export const randomDataOf: Record<string, (random: Random) => unknown> = {
  token: (random) => `text ${digits(random, 12)}`,
  card: (random) => ({ number: randomCardNumber(random), expiration_month: 12, expiration_year: 2040, cvc: '1234' }),
  bank: (random) => ({ routing_number: randomRoutingNumber(random), account_number: digits(random, 12) }),
  card_number: randomCardNumber,
  us_bank_account_number: (random) => digits(random, 12),
  us_bank_routing_number: randomRoutingNumber,
  social_security_number: (random) => digits(random, 9),
  employer_id_number: (random) => digits(random, 9),
};
