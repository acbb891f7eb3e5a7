/**
 * The secret is in the fragment, which no browser sends, so no log and no Referer has it. Undefined if no console is
 * served.
 */
export function invitationUrl(consoleUrl: string | undefined, secret: string): string | undefined {
  return consoleUrl && `${consoleUrl}/invitation#${secret}`;
}

export function secretOf(url: string): string {
  return url.slice(url.indexOf('#') + 1);
}
