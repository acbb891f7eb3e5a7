/** As requests and commands give it. */
export const email = {
  type: 'string',
  pattern: '^[^\\s@\\p{Cc}\\p{Cf}\\p{Z}]+@(localhost|[\\p{L}\\p{M}\\p{N}-]+(\\.[\\p{L}\\p{M}\\p{N}-]+)+)$',
  maxLength: 254,
  description:
    'An e-mail address at a host name with a dot, or at localhost. ASCII letters are compared and kept in lower case',
} as const;

export function isEmail(text: string): boolean {
  return text.length <= email.maxLength && new RegExp(email.pattern, 'u').test(text);
}
