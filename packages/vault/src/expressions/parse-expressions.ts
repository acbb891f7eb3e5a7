import { ServiceError } from '@sluice/problems';
import { Filter, type Liquid, Tokenizer, TokenKind } from 'liquidjs';
import { faultInArguments, liquidWithFilters } from './filters.ts';

export interface Literal {
  kind: 'literal';
  text: string;
  /** Position, for a text that is written as an expression, `{{ '{{' }}`. */
  place?: { start: number; end: number };
}

/** `{{ reference | filter: 'argument' }}` */
export interface Expression {
  kind: 'expression';
  /** The text before the first bar: a token id, or in masks and fingerprints a path into `data`. May be empty. */
  reference: string;
  filters: readonly Filter[];
  /** Position of `{{` in the text, in UTF-16 code units. */
  start: number;
  end: number;
  /** A syntax error of the expression. The evaluator throws it only after checking the caller's rights. */
  fault?: InvalidExpression;
}

export type Segment = Literal | Expression;

const longestExpression = 2000;
const mostFilters = 10;
const mostExpressions = 10_000;
/** Number read or evaluated before other work may run: about a millisecond. */
export const expressionsOfPiece = 50;
const opening = '{{';
const openingBytes = Buffer.from(opening);

let engine: Liquid | undefined;

export function filterEngine(): Liquid {
  engine ??= liquidWithFilters();
  return engine;
}

export function mayContainExpression(text: string | Uint8Array): boolean {
  if (typeof text === 'string') return text.includes(opening);
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength).includes(openingBytes);
}

/** {@link readExpressions} for authors, who may see errors at once. @throws {ServiceError} `bad_request`. */
export function parseExpressions(text: string): Segment[] {
  const segments = readExpressions(text);
  const fault = faultIn(segments);
  if (fault) throw fault;
  return segments;
}

export function faultIn(segments: readonly Segment[]): InvalidExpression | undefined {
  for (const segment of segments) if (segment.kind === 'expression' && segment.fault) return segment.fault;
  return undefined;
}

/** A malformed expression carries its fault. @throws {ServiceError} `bad_request` for more than `most` expressions. */
export function readExpressions(text: string, most = mostExpressions): Segment[] {
  const segments: Segment[] = [];
  let position = 0;
  for (let count = 0; position !== -1; count++) position = readNext(text, position, requireFew(segments, count, most));
  return segments;
}

/** {@link readExpressions}, letting other work run after every {@link expressionsOfPiece}. */
export function* readExpressionsInPieces(text: string, most = mostExpressions): Generator<void, Segment[], void> {
  const segments: Segment[] = [];
  let position = 0;
  for (let count = 0; position !== -1; count++) {
    if (count > 0 && count % expressionsOfPiece === 0) yield;
    position = readNext(text, position, requireFew(segments, count, most));
  }
  return segments;
}

/** @returns the position after the next literal and expression; -1 at the end of the text. */
function readNext(text: string, position: number, segments: Segment[]): number {
  const start = text.indexOf(opening, position);
  const literal = text.slice(position, start === -1 ? undefined : start);
  if (literal !== '') segments.push({ kind: 'literal', text: literal });
  if (start === -1) return -1;
  const quoted = readQuotedText(text, start);
  if (quoted) {
    segments.push(quoted.literal);
    return quoted.end;
  }
  const expression = readExpression(text, start);
  segments.push(expression);
  return expression.end;
}

function requireFew(segments: Segment[], count: number, most: number): Segment[] {
  if (count <= most) return segments;
  throw new ServiceError('bad_request', `A text may have at most ${most} expressions`, { limit: 'expressions' });
}

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

  within(place: string): InvalidExpression {
    return new InvalidExpression(this.#start, this.#reason, `${this.#where} ${place}`);
  }
}

export function invalidExpression(start: number, reason: string): InvalidExpression {
  return new InvalidExpression(start, reason);
}

/** An expression that is only a quoted text, written like an argument of a filter. */
const quotedText = /\{\{[ \t\r\n]*((["'])(?:(?!\2|\\).|\\.)*\2)[ \t\r\n]*\}\}/sy;

function readQuotedText(text: string, start: number): { literal: Literal; end: number } | undefined {
  let head = start + opening.length;
  while (text.charCodeAt(head) <= space) head += 1;
  const first = text.charCodeAt(head);
  if (first !== quote && first !== apostrophe) return undefined;
  const part = text.slice(start, start + longestExpression);
  quotedText.lastIndex = 0;
  const source = quotedText.exec(part)?.[1];
  const token = source === undefined ? undefined : new Tokenizer(source).readQuoted();
  if (!token) return undefined;
  const end = start + quotedText.lastIndex;
  return { literal: { kind: 'literal', text: token.content, place: { start, end } }, end };
}

function readExpression(text: string, start: number): Expression {
  const from = start + opening.length;
  const limit = Math.min(text.length, start + longestExpression);
  const headEnd = endOfHead(text, from, limit);
  const reference = text.slice(from, headEnd).trim();
  const hasFilters = headEnd < limit && text[headEnd] === '|';
  const close = hasFilters ? headEnd + closeBehindFilters(text.slice(headEnd, limit)) : headEnd;
  if (close + 2 > limit || !text.startsWith('}}', close)) {
    return faulty(start, 'it is not closed with }}', { reference: '', end: from });
  }
  const end = close + 2;
  if (reference === '') return faulty(start, 'it is empty', { reference, end });
  const filters = hasFilters ? readFilters(text.slice(headEnd, close)) : noFilters;
  if (typeof filters === 'string') return faulty(start, filters, { reference, end });
  return { kind: 'expression', reference, filters, start, end };
}

const noFilters: readonly Filter[] = [];

function endOfHead(text: string, from: number, limit: number): number {
  for (let i = from; i < limit; i++) {
    const c = text.charCodeAt(i);
    if (c === bar || c === openingBrace || c === closingBrace) return i;
  }
  return limit;
}

const space = 0x20;
const quote = 0x22;
const apostrophe = 0x27;
const bar = 0x7c;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

function faulty(start: number, reason: string, part: Pick<Expression, 'reference' | 'end'>): Expression {
  return { kind: 'expression', filters: noFilters, start, fault: invalidExpression(start, reason), ...part };
}

function closeBehindFilters(text: string): number {
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quote !== '') {
      if (c === '\\') i++;
      else if (c === quote) quote = '';
    } else if (c === '"' || c === "'") quote = c;
    else if (c === '{' || c === '}') return i;
  }
  return text.length;
}

/** Only filters are read by Liquid, because it refuses characters of token ids. A string result is the fault. */
function readFilters(source: string): Filter[] | string {
  const { filters: liquidFilters } = filterEngine();
  const tokens = readFilterTokens(new Tokenizer(`x ${source}`));
  if (!tokens) return 'its filters are malformed';
  if (tokens.length === 0) return 'a filter is missing after |';
  if (tokens.length > mostFilters) return `it has more than ${mostFilters} filters`;
  const filters: Filter[] = [];
  for (const token of tokens) {
    const { name, args } = token;
    const implementation = Object.hasOwn(liquidFilters, name) ? liquidFilters[name] : undefined;
    if (!implementation) return `there is no filter ${name.slice(0, 50)}`;
    const constants = args.filter(isConstant);
    if (constants.length < args.length) return 'arguments of filters must be quoted text, numbers, true, false or nil';
    const fault = faultInArguments(
      name,
      constants.map(({ content }) => content),
    );
    if (fault) return `the filter ${name} ${fault}`;
    filters.push(new Filter(token, implementation, filterEngine()));
  }
  return filters;
}

function readFilterTokens(tokenizer: Tokenizer) {
  try {
    const { filters } = tokenizer.readFilteredValue();
    tokenizer.skipBlank();
    if (tokenizer.end()) return filters;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'TokenizationError') throw error;
  }
  return undefined;
}

const constantKinds: readonly TokenKind[] = [TokenKind.Quoted, TokenKind.Number, TokenKind.Literal];

function isConstant<T>(argument: T): argument is T & { content: unknown } {
  return (
    typeof argument === 'object' &&
    argument !== null &&
    'kind' in argument &&
    constantKinds.includes(argument.kind as TokenKind)
  );
}
