import { mayContainExpression } from '../expressions/parse-expressions.ts';
import type { Json } from '../json.ts';
import type { Actor } from '../tokens/token.ts';
import type { Vault } from '../vault.ts';
import { detokenizeEach } from './detokenize.ts';

export interface JsonDocument {
  /** Valid JSON. */
  text: string;
  /** The text, parsed. */
  value: Json;
}

/** Finding the strings of a longer text takes over a millisecond. */
const largeText = 64 * 1024;

/**
 * {@link detokenize} of a text. Everything but the strings with expressions stays as it is, so numbers keep their
 * digits.
 */
export async function detokenizeJson(vault: Vault, actor: Actor, { text, value }: JsonDocument): Promise<string> {
  if (text.length > largeText) await vault.workPieces.turn(actor.tenantId);
  const strings = stringsWithExpressions(text);
  const [filled] = await detokenizeEach(vault, actor, [strings.map((string) => string.text)], { document: value });
  let result = '';
  let position = 0;
  for (const [at, { start, end }] of strings.entries()) {
    result += text.slice(position, start) + JSON.stringify((filled as Json[])[at]);
    position = end;
  }
  return result + text.slice(position);
}

interface FoundString {
  text: string;
  start: number;
  end: number;
}

/** Without names of members. */
function stringsWithExpressions(json: string): FoundString[] {
  const found: FoundString[] = [];
  for (let start = json.indexOf('"'); start !== -1; ) {
    const end = endOfString(json, start);
    const literal = json.slice(start, end);
    if (/\{|\\u007b/i.test(literal) && !isName(json, end)) {
      const text: string = JSON.parse(literal);
      if (mayContainExpression(text)) found.push({ text, start, end });
    }
    start = json.indexOf('"', end);
  }
  return found;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isName(json: string, end: number): boolean {
  let at = end;
  while (/[ \t\n\r]/.test(json[at] ?? '')) at += 1;
  return json[at] === ':';
}
