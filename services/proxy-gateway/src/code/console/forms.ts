/** Shorter forms occur too often in harmless text. */
const shortestEncoding = 6;
const shortestSecret = 4;

/** Blanks and dashes: people group digits by them, and Node.js the bytes of a buffer. */
export const separators = /[\s-]/g;

/** The forms in which code may print a secret: itself, escaped, percent-encoded, in hexadecimal and base64. */
export function* formsOf(secret: string): Generator<string> {
  yield secret;
  const escaped = JSON.stringify(secret).slice(1, -1);
  const encoded = [
    escaped.replaceAll('\\"', '"'), // between single quotes
    secret.replace(separators, ''),
    encodeURIComponent(secret.toWellFormed()),
    new URLSearchParams([['', secret]]).toString().slice(1), // a blank is a plus sign
    ...encodingsOf(secret),
  ];
  if (escaped !== secret) yield escaped;
  if (secret.length < shortestSecret) return;
  for (const form of new Set(encoded)) if (form !== secret && form.length >= shortestEncoding) yield form;
}

/** In hexadecimal and base64, where nothing shows what was encoded beside it. */
export function encodingsOf(secret: string): string[] {
  if (secret.length < shortestSecret) return [];
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].flatMap((offset) => {
    const core = base64Core(bytes, offset);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [bytes.toString('hex'), ...base64].filter((form) => form.length >= shortestEncoding);
}

/** The part of a text's base64 that does not depend on the surrounding text. */
function base64Core(bytes: Buffer, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const first = [0, 2, 3][offset] ?? 0;
  const last = (bytes.length + offset) % 3 === 0 ? whole.length : whole.length - 1;
  return whole.slice(first, last);
}
