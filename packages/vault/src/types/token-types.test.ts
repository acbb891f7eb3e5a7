import { type Json, tokenTypeNames } from '../index.ts';
import { checkTokenData, type TokenTypeName, tokenTypeOf } from './token-types.ts';

test('there are eight types', () => {
  expect(tokenTypeNames).toEqual([
    'token',
    'card',
    'bank',
    'card_number',
    'us_bank_account_number',
    'us_bank_routing_number',
    'social_security_number',
    'employer_id_number',
  ]);
});

describe('checkTokenData', () => {
  const number = '4242424242424242';

  test.each<[TokenTypeName, Json]>([
    ['token', null],
    ['token', { any: ['thing'] }],
    ['card', { number }],
    ['card', { number, expiration_month: 12, expiration_year: 2030, cvc: '123', holder: 'A' }],
    ['card', { number, expiration_month: '01', expiration_year: '2030', cvc: null }],
    ['bank', { routing_number: '021000021', account_number: '1' }],
    ['card', { number: '501000000007' }],
    ['card', { number: '6212345678900000003' }],
    ['card_number', '378282246310005'],
    ['card_number', '501000000007'],
    ['card_number', '6212345678900000003'],
    ['card_number', '8171999900000018'],
    ['us_bank_account_number', '123'],
    ['us_bank_routing_number', '021000021'],
    ['social_security_number', '123-45-6789'],
    ['social_security_number', '123456789'],
    ['employer_id_number', '12-3456789'],
  ])('%s takes %j', (type, data) => expect(checkTokenData(type, data)).toEqual({}));

  test.each<[TokenTypeName, Json, string, string]>([
    ['card', 'hunter2', 'data', 'must be an object'],
    ['card', [], 'data', 'must be an object'],
    ['card', {}, 'data.number', 'is required'],
    ['card', { number: 4242424242424242 }, 'data.number', '12 to 19 digits'],
    ['card', { number: '4242424242424241' }, 'data.number', 'check digit'],
    ['card', { number: '42424242424' }, 'data.number', '12 to 19 digits'],
    ['card', { number: '424242424241' }, 'data.number', 'check digit'],
    ['card', { number: '62424242421' }, 'data.number', '12 to 19 digits'],
    ['card', { number: '81424242424242424242' }, 'data.number', '12 to 19 digits'],
    ['card_number', '6011000990139425', 'data', 'check digit'],
    ['card', { number: '42424242424242424242' }, 'data.number', '12 to 19 digits'],
    ['card', { number, expiration_month: 13 }, 'data.expiration_month', 'month'],
    ['card', { number, expiration_year: 30 }, 'data.expiration_year', 'year'],
    ['card', { number, cvc: '12' }, 'data.cvc', '3 or 4 digits'],
    ['card', { number, cvc: 123 }, 'data.cvc', '3 or 4 digits'],
    ['bank', { routing_number: '021000022', account_number: '1' }, 'data.routing_number', 'check digit'],
    ['bank', { routing_number: '021000021' }, 'data.account_number', 'is required'],
    ['bank', { routing_number: '021000021', account_number: '123456789012345678' }, 'data.account_number', '17'],
    ['card_number', { number }, 'data', 'digits'],
    ['us_bank_account_number', '12', 'data', '3 to 17'],
    ['us_bank_routing_number', '123456789', 'data', 'check digit'],
    ['social_security_number', '12-345-6789', 'data', '9 digits'],
    ['employer_id_number', '123-45-6789', 'data', '9 digits'],
  ])('%s refuses %j and names %s', (type, data, path, message) => {
    const errors = checkTokenData(type, data);
    expect(Object.keys(errors)).toEqual([path]);
    expect(errors[path]?.[0]).toContain(message);
    const sent = typeof data === 'string' ? data : '4242';
    expect(JSON.stringify(errors)).not.toContain(sent);
  });
});

describe('default fingerprints', () => {
  const same = (type: TokenTypeName, one: Json, two: Json) =>
    tokenTypeOf(type).fingerprint(one) === tokenTypeOf(type).fingerprint(two);

  test('tokens are equal whatever the order of members', () => {
    expect(same('token', { a: 1, b: [{ d: 1, c: 2 }] }, { b: [{ c: 2, d: 1 }], a: 1 })).toBe(true);
    expect(same('token', ['1'], [1])).toBe(false);
  });

  test('cards are equal by number, bank accounts by account and routing number, numbers without dashes', () => {
    expect(same('card', { number: '1', cvc: '123' }, { number: '1' })).toBe(true);
    expect(
      same('bank', { routing_number: '1', account_number: '2' }, { routing_number: '2', account_number: '1' }),
    ).toBe(false);
    expect(same('social_security_number', '123-45-6789', '123456789')).toBe(true);
  });
});
