import { randomBytes, randomInt } from 'node:crypto';
import { createRandom, newSeed } from '@sluice/testing';
import { newCardNumber, newRoutingNumber } from '../token-values.ts';
import type { Canary } from './search/forms.ts';

/** All canaries of a run. Each value is new, so that a hit can come from nowhere else. */
export interface Canaries {
  all: Canary[];
  /** A value of its own for this name, the same whenever it is asked for. */
  text(name: string): string;
  /** Adds a value that somebody else made, such as a key. */
  add(name: string, value: string): string;
  card: string;
  cardPatched: string;
  /** Sent as it is, without a token. */
  cardUntokenized: string;
  /** Its check digit is wrong. */
  cardMistyped: string;
  cvc: string;
  account: string;
  routing: string;
  socialSecurity: string;
}

export function newCanaries(): Canaries {
  const random = createRandom(newSeed());
  const all: Canary[] = [];
  const add = (name: string, value: string, isShort = false) => {
    all.push({ name, value, isShort });
    return value;
  };
  const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join('');
  const card = (name: string) => add(name, newCardNumber(random));
  const texts = new Map<string, string>();
  const mistyped = newCardNumber(random);
  return {
    all,
    text(name) {
      const value = texts.get(name) ?? add(name, `geheim ${randomBytes(9).toString('hex')}/ü+`);
      texts.set(name, value);
      return value;
    },
    add: (name, value) => add(name, value),
    card: card('card'),
    cardPatched: card('cardPatched'),
    cardUntokenized: card('cardUntokenized'),
    cardMistyped: add('cardMistyped', mistyped.slice(0, -1) + ((Number(mistyped.at(-1)) + 1) % 10)),
    cvc: add('cvc', String(randomInt(2000, 10_000)), true),
    account: add('account', digits(17)),
    routing: add('routing', newRoutingNumber(random)),
    socialSecurity: add('socialSecurity', digits(9)),
  };
}
