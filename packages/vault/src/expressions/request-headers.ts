import { type Expression, invalidExpression, type Literal, parseExpressions } from './parse-expressions.ts';

/** `{{ config: NAME | filter }}`: a value of the Proxy's configuration. */
export interface ConfigurationExpression extends Omit<Expression, 'kind' | 'reference' | 'fault'> {
  kind: 'configuration';
  name: string;
}

/** A header that a Proxy sets on its calls. */
export interface RequestHeader {
  /** As it was written. */
  name: string;
  text: string;
  parts: readonly (Literal | Expression | ConfigurationExpression)[];
}

/** @throws {InvalidExpression} for a text with a malformed expression, with its position in that text. */
export function parseRequestHeaders(headers: Readonly<Record<string, string>>): RequestHeader[] {
  return Object.entries(headers).map(([name, text]) => ({ name, text, parts: parseHeaderText(text) }));
}

export function parseHeaderText(text: string): RequestHeader['parts'] {
  return parseExpressions(text).map((segment) => (segment.kind === 'literal' ? segment : toPart(segment)));
}

const configuration = 'config:';
const nameForm = /^[A-Za-z0-9_.-]+$/;

function toPart({ kind, reference, fault: _, ...rest }: Expression): Expression | ConfigurationExpression {
  if (!reference.startsWith(configuration)) return { kind, reference, ...rest };
  const name = reference.slice(configuration.length).trim();
  if (nameForm.test(name)) return { kind: 'configuration', name, ...rest };
  throw invalidExpression(rest.start, 'the name after config: must consist of letters, digits, _, . and -');
}
