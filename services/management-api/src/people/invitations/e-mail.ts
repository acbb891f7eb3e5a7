/** As requests and commands give it. */
export const email = {
  type: 'string',
  pattern: '^[^\\s@]+@[^\\s@]+$',
  maxLength: 254,
  description: 'An e-mail address; ASCII letters are compared and kept in lower case',
} as const;

export function isEmail(text: string): boolean {
  return text.length <= email.maxLength && new RegExp(email.pattern).test(text);
}
