import { randomBytes, randomInt } from 'node:crypto';
import { randomSeed, seededRandom } from '@sluice/testing';
import { digits, randomCardNumber, randomRoutingNumber } from '../token-values.ts';
import type { Canary } from './search/forms.ts';

export type Canaries = ReturnType<typeof randomCanaries>;

/** All canaries of a run. Each value is new, so that a hit can come from nowhere else. */
export function randomCanaries() {
  const random = seededRandom(randomSeed());
  const all: Canary[] = [];
  const add = (name: string, value: string, isShort = false) => {
    all.push({ name, value, isShort });
    return value;
  };
  const card = (name: string) => add(name, randomCardNumber(random));
  const texts = new Map<string, string>();
  const text = (name: string, end: string) => {
    const value = texts.get(name) ?? add(name, `geheim ${randomBytes(9).toString('hex')}${end}`);
    texts.set(name, value);
    return value;
  };
  const mistyped = randomCardNumber(random);
  return {
    all,
    /** The value of this name: different from all others, and the same in each call. */
    text: (name: string) => text(name, '/ü+'),
    /** The same for a header, which has printable ASCII characters only. */
    headerText: (name: string) => text(name, '/+'),
    /** Adds a value that somebody else made, such as a key. */
    add: (name: string, value: string) => add(name, value),
    card: card('card'),
    cardPatched: card('cardPatched'),
    /** Sent as it is, without a token. */
    cardUntokenized: card('cardUntokenized'),
    /** Its check digit is wrong. */
    cardMistyped: add('cardMistyped', mistyped.slice(0, -1) + ((Number(mistyped.at(-1)) + 1) % 10)),
    cvc: add('cvc', String(randomInt(2000, 10_000)), true),
    account: add('account', digits(random, 17)),
    routing: add('routing', randomRoutingNumber(random)),
    socialSecurity: add('socialSecurity', digits(random, 9)),
  };
}
