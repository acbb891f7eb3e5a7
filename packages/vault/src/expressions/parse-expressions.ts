import { ServiceError } from '@sluice/problems';
import { Filter, type Liquid, Tokenizer, TokenKind } from 'liquidjs';
import { createFilterEngine } from './filters.ts';

/** Text that is no expression. */
export interface Literal {
  kind: 'literal';
  text: string;
}

/** `{{ reference | filter: 'argument' }}` */
export interface Expression {
  kind: 'expression';
  /** What stands before the first bar: a token id, or in masks and fingerprints a path into `data`. */
  reference: string;
  filters: readonly Filter[];
  /** Position of `{{` in the text, in UTF-16 code units. */
  start: number;
  /** Position behind `}}`. */
  end: number;
}

export type Segment = Literal | Expression;

const longestExpression = 2000;
const mostFilters = 10;
/** Of one text, so that its length alone does not decide how long it takes to read. */
const mostExpressions = 10_000;
const opening = '{{';
const openingBytes = Buffer.from(opening);

let engine: Liquid | undefined;

/** The one Liquid of the process, made when the first filter is met. */
export function filterEngine(): Liquid {
  engine ??= createFilterEngine();
  return engine;
}

/** Whether the text can hold an expression at all. False is certain; true means that it must be parsed. */
export function mayContainExpression(text: string | Uint8Array): boolean {
  if (typeof text === 'string') return text.includes(opening);
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength).includes(openingBytes);
}

/**
 * Splits a text into expressions and what is between them. Token ids may hold any character that ids may have, so
 * the reference is not read as Liquid; the filters are.
 * @throws {ServiceError} `bad_request` with the place of an expression that is empty, unclosed or has an unknown filter.
 */
export function parseExpressions(text: string): Segment[] {
  const segments: Segment[] = [];
  let position = 0;
  let count = 0;
  for (;;) {
    const start = text.indexOf(opening, position);
    const literal = text.slice(position, start === -1 ? undefined : start);
    if (literal !== '') segments.push({ kind: 'literal', text: literal });
    if (start === -1) return segments;
    if (++count > mostExpressions)
      throw new ServiceError('bad_request', `There are more than ${mostExpressions} expressions`);
    const expression = parseExpression(text, start);
    segments.push(expression);
    position = expression.end;
  }
}

/** What is wrong in an expression, and where it stands: at a character of a text, and where that text stands. */
export class InvalidExpression extends ServiceError {
  readonly #start: number;
  readonly #reason: string;
  readonly #where: string;

  constructor(start: number, reason: string, where = '') {
    super('bad_request', `The expression at character ${start}${where} is not valid: ${reason}`);
    this.#start = start;
    this.#reason = reason;
    this.#where = where;
  }

  /** The same error with the place of the text, for example `of $.card.number`. */
  within(place: string): InvalidExpression {
    return new InvalidExpression(this.#start, this.#reason, `${this.#where} ${place}`);
  }
}

/** The error for an expression at a place. */
export function invalidExpression(start: number, reason: string): InvalidExpression {
  return new InvalidExpression(start, reason);
}

function parseExpression(text: string, start: number): Expression {
  const inner = text.slice(start + opening.length, start + longestExpression);
  const head = /^[^|{}]*/.exec(inner)?.[0] ?? '';
  const reference = head.trim();
  const close = inner[head.length] === '|' ? closeBehindFilters(inner, head.length) : head.length;
  if (!inner.startsWith('}}', close)) throw invalidExpression(start, 'it is not closed with }}');
  if (reference === '') throw invalidExpression(start, 'it names nothing');
  const filters = close === head.length ? [] : parseFilters(inner.slice(head.length, close), start);
  return { kind: 'expression', reference, filters, start, end: start + opening.length + close + 2 };
}

/** Where the braces are that are not within quotes. */
function closeBehindFilters(text: string, from: number): number {
  let quote = '';
  for (let i = from; i < text.length; i++) {
    const c = text[i];
    if (quote !== '') {
      if (c === '\\') i++;
      else if (c === quote) quote = '';
    } else if (c === '"' || c === "'") quote = c;
    else if (c === '{' || c === '}') return i;
  }
  return text.length;
}

/** Liquid reads them; of its arguments only quoted text, numbers and literals are taken. */
function parseFilters(source: string, start: number): Filter[] {
  const tokenizer = new Tokenizer(`x ${source}`);
  const { filters: liquidFilters } = filterEngine();
  const tokens = readFilterTokens(tokenizer, start);
  if (tokens.length === 0) throw invalidExpression(start, 'a filter is missing after the bar');
  if (tokens.length > mostFilters) throw invalidExpression(start, `it has more than ${mostFilters} filters`);
  return tokens.map((token) => {
    const implementation = Object.hasOwn(liquidFilters, token.name) ? liquidFilters[token.name] : undefined;
    if (!implementation) throw invalidExpression(start, `there is no filter ${token.name.slice(0, 50)}`);
    if (!token.args.every(isConstant)) throw invalidExpression(start, 'a filter takes quoted text and numbers only');
    return new Filter(token, implementation, filterEngine());
  });
}

function readFilterTokens(tokenizer: Tokenizer, start: number) {
  try {
    const { filters } = tokenizer.readFilteredValue();
    tokenizer.skipBlank();
    if (tokenizer.end()) return filters;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'TokenizationError') throw error;
  }
  throw invalidExpression(start, 'its filters cannot be read');
}

const constantKinds: readonly TokenKind[] = [TokenKind.Quoted, TokenKind.Number, TokenKind.Literal];

function isConstant(argument: unknown): boolean {
  return (
    typeof argument === 'object' &&
    argument !== null &&
    'kind' in argument &&
    constantKinds.includes(argument.kind as TokenKind)
  );
}
