import { escapeText } from './escape.ts';

/** Keeps the text of the last answer, because numbers that are parsed lose digits. */
export class AnswerText {
  #text: Promise<string> | undefined;

  readonly fetch: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    this.#text = response.clone().text();
    this.#text.catch(() => undefined); // whoever reads the answer itself meets the same fault
    return response;
  };

  /** A response that has been read, safe to print on a terminal. Undefined if there was no body. */
  async asJson(): Promise<string | undefined> {
    const text = await this.#text;
    return text ? escapeText(indented(text)) : undefined;
  }
}

const tokens = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g;

/** As `JSON.stringify(value, undefined, 2)` writes it, but for the numbers, which stay as they are. */
function indented(json: string): string {
  const parts: string[] = [];
  let line = '\n';
  let before = '';
  for (const [token] of json.matchAll(tokens)) {
    const isClosing = token === '}' || token === ']';
    if (isClosing) line = line.slice(0, -2);
    const opensBefore = before === '{' || before === '[';
    if ((opensBefore && !isClosing) || before === ',' || (isClosing && !opensBefore)) parts.push(line);
    parts.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') line += '  ';
    before = token;
  }
  return parts.join('');
}
