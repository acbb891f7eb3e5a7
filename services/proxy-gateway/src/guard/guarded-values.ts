import { ServiceError } from '@sluice/problems';
import { type Expression, type FilterBudget, type Json, type PutIn, toText, writeExpression } from '@sluice/vault';
import { base64Forms } from './base64-forms.ts';

/** Shorter texts are in too many answers by chance. */
const leastCharacters = 6;
const mostValues = 1_000;
const mostBytes = 64 * 1024;

type Written = Pick<Expression, 'reference' | 'filters'>;

/** The values that were put into one request, each with the expression that stands for it. */
export class GuardedValues implements PutIn {
  /** By their index. */
  readonly texts: string[] = [];
  readonly expressions: string[] = [];
  /** Undefined for a value of the configuration. */
  readonly tokenIds: (string | undefined)[] = [];
  /** All bytes of texts. */
  bytes = 0;
  readonly #known = new Set<string>();
  /** By the text of each expression with a filter, whether its value may be put in. */
  readonly #filtered = new Map<string, boolean>();
  /** By reference, the value that was added last, and all texts that were counted. */
  readonly #unfiltered = new Map<string, { value: Json; texts: Set<string> }>();
  #count = 0;
  #bytes = 0;

  /** How many different expressions there were, whatever their values are. */
  get asked(): number {
    return this.#filtered.size + this.#unfiltered.size;
  }

  /**
   * The values of each token count for themselves, also if others are equal, so that no error tells which are.
   * @throws {ServiceError} 413 if the values without filters are more than can be looked for.
   */
  add(expression: Written, value: Json): void {
    const known = this.#unfiltered.get(expression.reference);
    if (known && known.value === value) return;
    const texts = textsIn(value);
    if (!texts) throw tooMuch();
    const counted = known?.texts ?? new Set();
    const fresh = [...new Set(texts)].filter((text) => !counted.has(text));
    const [count, bytes] = [this.#count + fresh.length, this.#bytes + bytesOf(fresh)];
    if (count > mostValues || bytes > mostBytes) throw tooMuch();
    this.#count = count;
    this.#bytes = bytes;
    for (const text of fresh) {
      counted.add(text);
      this.#lookFor(text, expression);
    }
    this.#unfiltered.set(expression.reference, { value, texts: counted });
  }

  /**
   * If the data is in the result as a whole, the data is looked for as well; otherwise not, because the destination, which
   * may know its last four digits only, could try out the others.
   */
  addFiltered(expression: Written, made: Json, data: Json, budget: FilterBudget): boolean {
    const name = writeExpression(expression);
    const known = this.#filtered.get(name);
    if (known !== undefined) return known;
    const isTaken = this.#takeFiltered(expression, { made, data, budget });
    this.#filtered.set(name, isTaken);
    return isTaken;
  }

  #takeFiltered(
    expression: Written,
    { made, data, budget }: { made: Json; data: Json; budget: FilterBudget },
  ): boolean {
    const texts = textsIn(made);
    const ofData = textsIn(data);
    if (!texts || !ofData || bytesOf(texts) > mostBytes) return false;
    const written = toText(made);
    const cost = (ofData.length * written.length) / charactersOfCost;
    if (cost > mostCost) return false;
    budget.remaining -= cost;
    if (budget.remaining < 0) return false;
    const whole = ofData.filter((text) => holds(written, text));
    const fresh = [...texts, ...whole].filter((text) => !this.#known.has(text));
    if (this.texts.length + fresh.length > mostValues || this.bytes + bytesOf(fresh) > mostBytes) return false;
    for (const text of texts) this.#lookFor(text, expression);
    for (const text of whole) this.#lookFor(text, { reference: expression.reference, filters: [] });
    return true;
  }

  #lookFor(text: string, expression: Written): void {
    if (this.#known.has(text)) return;
    const { reference } = expression;
    this.#known.add(text);
    this.bytes += Buffer.byteLength(text);
    this.texts.push(text);
    this.expressions.push(writeExpression(expression));
    this.tokenIds.push(reference.startsWith('config:') ? undefined : reference);
  }
}

/** Characters that are searched in the time in which a filter reads one. */
const charactersOfCost = 2;
/** Some milliseconds. */
const mostCost = 512 * 1024;

/** Each string and number that is long enough, without names of members. Undefined if they are too many. */
function textsIn(value: Json): string[] | undefined {
  const texts: string[] = [];
  const left: Json[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'object' && next !== null) left.push(...Object.values(next).reverse());
    else if (typeof next === 'string' || typeof next === 'number') {
      const text = `${next}`;
      if (text.length < leastCharacters) continue;
      texts.push(text);
      if (texts.length > mostValues) return undefined;
    }
  }
  return texts;
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** As it is, or in base64. */
function holds(written: string, text: string): boolean {
  if (text.length > written.length) return false;
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
