import { createHash } from 'node:crypto';

/** A value that must not be found outside of where it belongs. */
export interface Canary {
  name: string;
  value: string;
  /** Short ones, such as a verification code, are in too much that is harmless: they are looked for between quotes. */
  isShort: boolean;
}

/** One way in which a canary may be written. */
export interface Needle {
  canary: string;
  form: string;
  text: string;
  /** Compared without case, spaces, dashes and all other marks. */
  squeezed: boolean;
}

const fragment = 12;

/** Only letters and digits of ASCII, in lower case: how a value is grouped, quoted or escaped hides nothing. */
export function squeeze(latin1: string): string {
  return latin1.replace(/[^0-9A-Za-z]+/g, '').toLowerCase();
}

/** Every form of a canary: plain, parts of it, backwards, escaped, encoded, and as a hash that has no key. */
export function needlesOf(canary: Canary): Needle[] {
  const { name, value, isShort } = canary;
  const exact = isShort ? [`"${value}"`, `\\"${value}\\"`] : [value];
  const needles = exact.flatMap((text) => formsOf(text));
  if (isShort) needles.push({ form: 'member', text: `cvc${value}`, squeezed: true });
  return [...needles, ...hashesOf(value)].map((needle) => ({ canary: name, ...needle }));
}

type Form = Omit<Needle, 'canary'>;

function formsOf(value: string): Form[] {
  const bytes = Buffer.from(value);
  const latin1 = bytes.toString('latin1');
  const plain = squeeze(latin1);
  const squeezed = (form: string, text: string): Form => ({ form, text: squeeze(text), squeezed: true });
  const exact = (form: string, text: string): Form => ({ form, text, squeezed: false });
  const isQuoted = value.includes('"');
  return [
    isQuoted ? exact('plain', latin1) : squeezed('plain', latin1),
    ...(plain.length >= 16
      ? [squeezed('beginning', plain.slice(0, fragment)), squeezed('end', plain.slice(-fragment))]
      : []),
    ...(isQuoted ? [] : [squeezed('backwards', [...plain].reverse().join(''))]),
    exact('in JSON', Buffer.from(JSON.stringify(value).slice(1, -1)).toString('latin1')),
    squeezed('escaped', Array.from(value, (c) => `u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')),
    exact('in a URL', encodeURIComponent(value)),
    exact('in a form', new URLSearchParams([[value, '']]).toString().slice(0, -1)),
    squeezed('hex', bytes.toString('hex')),
    ...[0, 1, 2].flatMap((offset) => {
      const core = base64Core(bytes, offset);
      return [exact('base64', core), exact('base64url', core.replaceAll('+', '-').replaceAll('/', '_'))];
    }),
  ];
}

/** What stays of a text's base64 whatever stands before and after it. */
function base64Core(bytes: Buffer, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const last = (bytes.length + offset) % 3 === 0 ? whole.length : whole.length - 1;
  return whole.slice([0, 2, 3][offset], last);
}

/** A number of few digits is guessed from such a hash in a moment. */
function hashesOf(value: string): Form[] {
  return ['md5', 'sha1', 'sha256', 'sha512'].flatMap((algorithm) => {
    const hash = createHash(algorithm).update(value).digest();
    return [
      { form: algorithm, text: hash.toString('latin1'), squeezed: false },
      { form: `${algorithm} in hex`, text: hash.toString('hex'), squeezed: true },
      { form: `${algorithm} in base64`, text: hash.toString('base64').replace(/=+$/, ''), squeezed: false },
    ];
  });
}
