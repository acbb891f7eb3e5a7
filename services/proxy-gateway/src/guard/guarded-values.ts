import { ServiceError } from '@sluice/problems';
import { type Json, toText } from '@sluice/vault';
import { base64Forms } from './base64-forms.ts';

/** Shorter texts are in too many answers by chance. */
const leastCharacters = 6;
const mostValues = 1_000;
const mostBytes = 64 * 1024;

/** The values that were put into one request, each with the expression that stands for it. */
export class GuardedValues {
  /** By their index. */
  readonly texts: string[] = [];
  readonly expressions: string[] = [];
  readonly #known = new Set<string>();
  #bytes = 0;

  /** What was put in without a filter. @throws {ServiceError} 413 if it is more than can be looked for. */
  add(expression: string, value: Json): void {
    if (!this.#take(textsIn(value).map((text) => ({ text, expression })))) throw tooMuch();
  }

  /**
   * What a filter made. If the data is in it as a whole, the data is looked for as well; otherwise not, because the
   * destination, which may know its last four digits only, could try out the others.
   * @returns false if it is more than can be looked for. It must then not be put in, and no error may tell why.
   */
  addFiltered(expression: string, made: Json, of: { expression: string; data: Json }): boolean {
    const written = toText(made);
    const whole = textsIn(of.data).filter((text) => holds(written, text));
    return this.#take([
      ...textsIn(made).map((text) => ({ text, expression })),
      ...whole.map((text) => ({ text, expression: of.expression })),
    ]);
  }

  /** All of them or none. */
  #take(values: readonly { text: string; expression: string }[]): boolean {
    const fresh = new Map<string, string>();
    for (const { text, expression } of values) {
      if (!this.#known.has(text) && !fresh.has(text)) fresh.set(text, expression);
    }
    const bytes = [...fresh.keys()].reduce((sum, text) => sum + Buffer.byteLength(text), this.#bytes);
    if (this.texts.length + fresh.size > mostValues || bytes > mostBytes) return false;
    this.#bytes = bytes;
    for (const [text, expression] of fresh) {
      this.#known.add(text);
      this.texts.push(text);
      this.expressions.push(expression);
    }
    return true;
  }
}

/** Each string and number that is long enough, without names of members. */
function textsIn(value: Json): string[] {
  const texts: string[] = [];
  const left: Json[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'string' || typeof next === 'number') texts.push(`${next}`);
    else if (typeof next === 'object' && next !== null) left.push(...Object.values(next).reverse());
  }
  return texts.filter(({ length }) => length >= leastCharacters);
}

/** As it is, or in base64. */
function holds(written: string, text: string): boolean {
  if (written.includes(text)) return true;
  return base64Forms(Buffer.from(text)).some(({ bytes, last }) => {
    const form = bytes.toString();
    for (let at = written.indexOf(form); at !== -1; at = written.indexOf(form, at + 1)) {
      if (!last || last.includes(written.charCodeAt(at + form.length))) return true;
    }
    return false;
  });
}

function tooMuch(): ServiceError {
  const detail = `The Proxy has a response_guard, so expressions may put in at most ${mostValues} values and ${mostBytes} bytes`;
  return new ServiceError('payload_too_large', detail, { limit: 'guarded_values' });
}
