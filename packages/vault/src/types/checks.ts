import type { Json } from '../json.ts';

/** Describes the fault of a value, without repeating it. */
export type Check = (value: Json | undefined) => string | undefined;

function matches(pattern: RegExp, message: string): Check {
  return (value) => (typeof value === 'string' && pattern.test(value) ? undefined : message);
}

function each(...checks: Check[]): Check {
  return (value) => {
    for (const check of checks) {
      const message = check(value);
      if (message) return message;
    }
    return undefined;
  };
}

export function optional(check: Check): Check {
  return (value) => (value === undefined || value === null ? undefined : check(value));
}

/** Accepts decimal digits too. */
function integer(minimum: number, maximum: number, message: string): Check {
  return (value) => {
    const number = typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value;
    const fits = typeof number === 'number' && Number.isInteger(number) && number >= minimum && number <= maximum;
    return fits ? undefined : message;
  };
}

/** UnionPay has issued numbers whose check digit is not Luhn's. */
const unionPay = /^(62|81)/;

/** For 12 to 19 digits. */
export function isCardNumber(digits: string): boolean {
  return unionPay.test(digits) || passesLuhn(digits);
}

export const cardNumber = each(matches(/^\d{12,19}$/, 'must be 12 to 19 digits'), (value) =>
  isCardNumber(String(value)) ? undefined : 'is not a card number: its check digit is wrong',
);

export const cardMonth = integer(1, 12, 'must be a month from 1 to 12');
export const cardYear = integer(1000, 9999, 'must be a year of 4 digits');
export const cardCvc = matches(/^\d{3,4}$/, 'must be 3 or 4 digits');

export const routingNumber = each(matches(/^\d{9}$/, 'must be 9 digits'), (value) =>
  passesAba(String(value)) ? undefined : 'is not a routing number: its check digit is wrong',
);
export const bankAccountNumber = matches(/^\d{1,17}$/, 'must be at most 17 digits');
export const usBankAccountNumber = matches(/^\d{3,17}$/, 'must be 3 to 17 digits');

export const socialSecurityNumber = matches(/^\d{3}-?\d{2}-?\d{4}$/, 'must be 9 digits, with or without dashes');
export const employerIdNumber = matches(/^\d{2}-?\d{7}$/, 'must be 9 digits, with or without a dash');

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Weights 3, 7, 1 of the ABA routing transit number. */
function passesAba(digits: string): boolean {
  const weights = [3, 7, 1] as const;
  const sum = weights.reduce(
    (total, weight, i) => total + weight * (Number(digits[i]) + Number(digits[i + 3]) + Number(digits[i + 6])),
    0,
  );
  return sum % 10 === 0;
}
