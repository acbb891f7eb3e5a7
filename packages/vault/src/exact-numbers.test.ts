import { ServiceError } from '@sluice/problems';
import { hasExactNumbers, requireExactNumbers } from './exact-numbers.ts';

const exact = ['0', '-1.5', '9007199254740991', '-9007199254740991', '0.1', '1.7976931348623157e-300', '12345678901.5'];
const changed = ['9007199254740992', '9007199254740993', '-9007199254740993', '1e16', '1e300', '1e400', '-1e400'];

test.each(exact)('%s is kept', (text) => {
  expect(hasExactNumbers(JSON.parse(`{"a":[${text}]}`))).toBe(true);
});

test.each(changed)('%s is not', (text) => {
  expect(hasExactNumbers(JSON.parse(`{"a":[${text}]}`))).toBe(false);
});

test.each([
  ['9007199254740993', 'args'],
  ['{"amount":9007199254740993}', 'args.amount'],
  ['{"list":[1,{"an id":1e400}]}', "args.list[1]['an id']"],
  [`${'['.repeat(20_000)}1e400${']'.repeat(20_000)}`, 'args'],
])('of %.30s the member is named', (json, path) => {
  const errors = () => {
    try {
      requireExactNumbers('args', JSON.parse(json));
    } catch (error) {
      if (error instanceof ServiceError) return error.errors;
      throw error;
    }
    return undefined;
  };
  expect(errors()).toEqual({ [path]: [expect.stringContaining('send it as text')] });
});
