import { isObject, type Json, type JsonObject, orderedJson } from '../json.ts';
import {
  bankAccountNumber,
  type Check,
  cardCvc,
  cardMonth,
  cardNumber,
  cardYear,
  employerIdNumber,
  optional,
  routingNumber,
  socialSecurityNumber,
  usBankAccountNumber,
} from './checks.ts';

export interface TokenType {
  defaultContainer: string;
  data?: Check;
  members?: Readonly<Record<string, Check>>;
  /** Equal for equal data. Called only with data that passed the checks. */
  fingerprint(data: Json): string;
  /** The expression that yields exactly `fingerprint`, if there is one. */
  fingerprintExpression?: string;
  defaultMask: Json;
}

const lastFour = '{{ data | reveal_last: 4 }}';
const wholeText = (data: Json) => String(data);
const withoutDashes = (data: Json) => String(data).replaceAll('-', '');
const textAt = (data: Json, member: string) => (isObject(data) ? String(data[member]) : '');

const tokenTypes = {
  token: {
    defaultContainer: '/general/high/',
    fingerprint: orderedJson,
    defaultMask: null,
  },
  card: {
    defaultContainer: '/pci/high/',
    members: {
      number: cardNumber,
      expiration_month: optional(cardMonth),
      expiration_year: optional(cardYear),
      cvc: optional(cardCvc),
    },
    fingerprint: (data) => textAt(data, 'number'),
    fingerprintExpression: '{{ data.number }}',
    defaultMask: {
      number: '{{ data.number | reveal_last: 4 }}',
      expiration_month: '{{ data.expiration_month }}',
      expiration_year: '{{ data.expiration_year }}',
    },
  },
  bank: {
    defaultContainer: '/bank/high/',
    members: { routing_number: routingNumber, account_number: bankAccountNumber },
    fingerprint: (data) => `${textAt(data, 'account_number')}/${textAt(data, 'routing_number')}`,
    fingerprintExpression: '{{ data.account_number }}/{{ data.routing_number }}',
    defaultMask: {
      routing_number: '{{ data.routing_number }}',
      account_number: '{{ data.account_number | reveal_last: 4 }}',
    },
  },
  card_number: {
    defaultContainer: '/pci/high/',
    data: cardNumber,
    fingerprint: wholeText,
    fingerprintExpression: '{{ data }}',
    defaultMask: lastFour,
  },
  us_bank_account_number: {
    defaultContainer: '/bank/high/',
    data: usBankAccountNumber,
    fingerprint: wholeText,
    fingerprintExpression: '{{ data }}',
    defaultMask: lastFour,
  },
  us_bank_routing_number: {
    defaultContainer: '/bank/low/',
    data: routingNumber,
    fingerprint: wholeText,
    fingerprintExpression: '{{ data }}',
    defaultMask: lastFour,
  },
  social_security_number: {
    defaultContainer: '/pii/high/',
    data: socialSecurityNumber,
    fingerprint: withoutDashes,
    defaultMask: lastFour,
  },
  employer_id_number: {
    defaultContainer: '/pii/high/',
    data: employerIdNumber,
    fingerprint: withoutDashes,
    defaultMask: lastFour,
  },
} as const satisfies Record<string, TokenType>;

export type TokenTypeName = keyof typeof tokenTypes;

export const tokenTypeNames = Object.keys(tokenTypes) as [TokenTypeName, ...TokenTypeName[]];

export function tokenTypeOf(name: TokenTypeName): TokenType {
  return tokenTypes[name];
}

/** Messages by path, `data.<member>`, for these members alone. */
export function checkMembers(name: TokenTypeName, data: JsonObject): Record<string, string[]> {
  const members = tokenTypeOf(name).members ?? {};
  const faults = Object.entries(data).flatMap(([member, value]) => {
    const message = Object.hasOwn(members, member) ? members[member]?.(value) : undefined;
    return message ? [[`data.${member}`, [message]]] : [];
  });
  return Object.fromEntries(faults);
}

/** Messages by path, `data` or `data.<member>`, without a value. */
export function checkTokenData(name: TokenTypeName, data: Json): Record<string, string[]> {
  const { data: check, members } = tokenTypeOf(name);
  const errors: Record<string, string[]> = {};
  const note = (path: string, message: string | undefined) => {
    if (message) errors[path] = [message];
  };
  if (check) note('data', check(data));
  if (!members) return errors;
  if (!isObject(data)) return { data: ['must be an object'] };
  for (const [member, checkMember] of Object.entries(members)) {
    const value = Object.hasOwn(data, member) ? data[member] : undefined;
    note(`data.${member}`, value === undefined && checkMember(undefined) ? 'is required' : checkMember(value));
  }
  return errors;
}
