import { emailPattern } from '@sluice/http-api';

/** As requests and commands give it. */
export const email = {
  type: 'string',
  pattern: emailPattern,
  maxLength: 254,
  description: 'E-mail address. Its host name has a dot or is localhost. ASCII letters are stored in lower case',
} as const;

export function isEmail(text: string): boolean {
  return text.length <= email.maxLength && new RegExp(email.pattern, 'u').test(text);
}
