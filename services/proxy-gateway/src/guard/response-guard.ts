import { ServiceError } from '@sluice/problems';
import { inPairs } from '../http/header-list.ts';
import type { HeaderList } from '../http/message.ts';
import type { Automaton } from './automaton.ts';
import { Replacer } from './replacer.ts';

export type GuardMode = 'tokenize' | 'redact' | 'block';

const redacted = '[redacted]';
/** A longer expression would let an answer grow too much. */
const longestExpression = 100;
/** What a header line can hold, and needs no escape in JSON and HTML. */
const plain = /^[ !#-%'-;=?-[\]-~]*$/;

/** Looks for the values of one request in all parts of its answer. */
export class ResponseGuard {
  /** By the index of a value, how often it was found. */
  readonly hits = new Map<number, number>();
  readonly #mode: GuardMode;
  #automaton: Automaton;
  readonly #expressions: readonly string[];
  readonly #replacements = new Map<number, Buffer>();

  /** @param expressions by the index of the value that each stands for. */
  constructor(mode: GuardMode, automaton: Automaton, expressions: readonly string[]) {
    this.#mode = mode;
    this.#automaton = automaton;
    this.#expressions = expressions;
  }

  get automaton(): Automaton {
    return this.#automaton;
  }

  /** Values that are put in after the answer has begun are looked for from then on. */
  lookFor(automaton: Automaton): void {
    this.#automaton = automaton;
  }

  /** For a text that comes in chunks. @throws {ValueReturned} from its functions, if the guard blocks. */
  replacer(): Replacer {
    return new Replacer(this.#automaton, (value) => this.#replacement(value));
  }

  /** @throws {ValueReturned} if the guard blocks. */
  whole(body: Buffer): Buffer {
    const replacer = this.replacer();
    const begin = replacer.read(body);
    const end = replacer.end();
    if (end.length === 0) return begin;
    return begin.length === 0 ? end : Buffer.concat([begin, end]);
  }

  /** A line of the head, or a reason phrase. */
  line(text: string): string {
    return this.whole(Buffer.from(text, 'latin1')).toString('latin1');
  }

  /**
   * Headers or trailers. A line whose name holds a value is left out, because no other name would mean the same; so is a
   * length, which takes no other text.
   */
  lines(headers: HeaderList): HeaderList {
    return inPairs(headers).flatMap(([name, value]) => {
      const guarded = this.line(value);
      if (this.line(name) !== name) return [];
      return guarded !== value && name.toLowerCase() === 'content-length' ? [] : [name, guarded];
    });
  }

  #replacement(value: number): Buffer {
    this.hits.set(value, (this.hits.get(value) ?? 0) + 1);
    if (this.#mode === 'block') throw new ValueReturned();
    let replacement = this.#replacements.get(value);
    if (!replacement) {
      replacement = Buffer.from(this.#textFor(value));
      this.#replacements.set(value, replacement);
    }
    return replacement;
  }

  #textFor(value: number): string {
    const expression = this.#expressions[value] ?? redacted;
    const isWritten = this.#mode === 'tokenize' && expression.length <= longestExpression && plain.test(expression);
    return isWritten ? expression : redacted;
  }
}

/** The answer holds a value, and its Proxy blocks such answers. The caller is not told what the destination's status was. */
export class ValueReturned extends ServiceError {
  constructor() {
    super(
      'destination_answer_unusable',
      'The response of the destination contains a value that was put into the request',
    );
  }
}
