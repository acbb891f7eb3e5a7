import { ServiceError } from '@sluice/problems';
import { type Expression, type FilterBudget, type Json, type PutIn, toText, writeExpression } from '@sluice/vault';
import { base64Forms } from './base64-forms.ts';

/** Shorter texts are in too many answers by chance. */
const leastCharacters = 6;
const mostValues = 1_000;
const mostBytes = 64 * 1024;

type Written = Pick<Expression, 'reference' | 'filters'>;

/**
 * The values that were put into one request, each with the expression that stands for it. What filters made has only the
 * room that values without filters have left so far, and takes nothing of theirs, so that it decides about no error.
 */
export class GuardedValues implements PutIn {
  /** By their index. */
  readonly texts: string[] = [];
  readonly expressions: string[] = [];
  /** Undefined for a value of the configuration. */
  readonly tokenIds: (string | undefined)[] = [];
  /** All bytes of texts. */
  bytes = 0;
  readonly #known = new Set<string>();
  /** By reference, the value that was added last, and all texts that were counted. */
  readonly #unfiltered = new Map<string, { value: Json; texts: Set<string> }>();
  /** By the text of each expression with a filter, what it made, and whether that may be put in. */
  readonly #filtered = new Map<string, { written: string; isTaken: boolean }>();
  /** What the last filters had. Of many tokens their forms would fill memory. */
  #searched: { reference: string; data: SearchedData } | undefined;
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
    const written = toText(made);
    const known = this.#filtered.get(name);
    if (known?.written === written) return known.isTaken;
    const isTaken = written.length < leastCharacters || this.#takeFiltered(expression, { made, written, data, budget });
    this.#filtered.set(name, { written, isTaken });
    return isTaken;
  }

  #takeFiltered(expression: Written, { made, written, data, budget }: Made): boolean {
    const texts = textsIn(made);
    const searched = this.#searchedData(expression.reference, data, budget);
    const whole = texts && searched.findIn(written, budget);
    if (!texts || !whole) return false;
    const fresh = [...texts, ...whole].filter((text) => !this.#known.has(text));
    if (this.texts.length + fresh.length > mostValues || this.bytes + bytesOf(fresh) > mostBytes) return false;
    for (const text of texts) this.#lookFor(text, expression);
    for (const text of whole) this.#lookFor(text, { reference: expression.reference, filters: [] });
    return true;
  }

  #searchedData(reference: string, data: Json, budget: FilterBudget): SearchedData {
    const known = this.#searched;
    if (known?.reference === reference && known.data.data === data) return known.data;
    this.#searched = { reference, data: new SearchedData(data, budget) };
    return this.#searched.data;
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

interface Made {
  made: Json;
  /** `made` as text. */
  written: string;
  data: Json;
  budget: FilterBudget;
}

/** Characters that are searched in the time in which a filter reads one. */
const charactersOfCost = 2;
/** Some milliseconds. */
const mostCost = 512 * 1024;

/** The texts of one token's data, to be found in what filters make of it. */
class SearchedData {
  readonly data: Json;
  readonly #texts: readonly {
    text: string;
    inBase64: readonly { form: string; last: readonly number[] | undefined }[];
  }[];
  readonly #isTooMuch: boolean;

  /** It takes about as much work as a filter that reads all of the data some times. */
  constructor(data: Json, budget: FilterBudget) {
    this.data = data;
    const texts = textsIn(data);
    budget.remaining -= texts ? 16 * bytesOf(texts) : mostBytes;
    this.#isTooMuch = texts === undefined || budget.remaining < 0;
    this.#texts = (this.#isTooMuch ? [] : (texts ?? [])).map((text) => ({
      text,
      inBase64: base64Forms(Buffer.from(text)).map(({ bytes, last }) => ({ form: bytes.toString(), last })),
    }));
  }

  /** The texts that are in `written` as they are, or in base64. Undefined if that is too much work. */
  findIn(written: string, budget: FilterBudget): string[] | undefined {
    const cost = (this.#texts.length * written.length) / charactersOfCost;
    if (this.#isTooMuch || cost > mostCost) return undefined;
    budget.remaining -= cost;
    if (budget.remaining < 0) return undefined;
    return this.#texts.flatMap(({ text, inBase64 }) =>
      written.includes(text) || inBase64.some((form) => holds(written, form)) ? [text] : [],
    );
  }
}

function holds(written: string, { form, last }: { form: string; last: readonly number[] | undefined }): boolean {
  for (let at = written.indexOf(form); at !== -1; at = written.indexOf(form, at + 1)) {
    if (!last || last.includes(written.charCodeAt(at + form.length))) return true;
  }
  return false;
}

/** Each string and number that is long enough, without names of members. Undefined if they are too many. */
function textsIn(value: Json): string[] | undefined {
  const texts: string[] = [];
  let bytes = 0;
  const left: Json[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'object' && next !== null) {
      for (const member of Object.values(next).reverse()) left.push(member);
    } else if (typeof next === 'string' || typeof next === 'number') {
      const text = `${next}`;
      if (text.length < leastCharacters) continue;
      texts.push(text);
      bytes += Buffer.byteLength(text);
      if (texts.length > mostValues || bytes > mostBytes) return undefined;
    }
  }
  return texts;
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

export function tooMuch(): ServiceError {
  const detail = `The Proxy has a response_guard, so one request may use at most ${mostValues} values of tokens and configurations, with at most ${mostBytes} bytes in total`;
  return new ServiceError('payload_too_large', detail, { limit: 'guarded_values' });
}
