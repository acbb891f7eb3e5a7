/** For e-mail addresses. Other letters keep their case, because two addresses that look alike must not become the same. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
