/** A request or response in strict conformance with RFC 9112; texts are latin1. */
export interface RawMessage {
  /** Request line or status line. */
  start: string;
  /** As sent: `Name: value`. */
  lines: string[];
  body: string;
  trailers: string[];
  isWhole: boolean;
}

/** `rest` follows the last whole message. It is empty if the other side kept to the rules. */
export interface ReadMessages {
  messages: RawMessage[];
  rest: string;
}

export interface ReadOptions {
  /** Ends the bodies of responses without framing. */
  hasEnded?: boolean;
  /** Positions of answers to HEAD among the final answers. */
  heads?: readonly number[];
}

/** Leaves in `rest` what it cannot read, so that a test sees it. */
export function readMessages(text: string, { hasEnded = false, heads = [] }: ReadOptions = {}): ReadMessages {
  const messages: RawMessage[] = [];
  let rest = text;
  let finals = 0;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) break;
    const [start = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(start)?.[1];
    if (!isSound(start, lines)) break;
    const isBodiless = status !== undefined && (/^1|204|304/.test(status) || heads.includes(finals));
    if (status !== undefined && !status.startsWith('1')) finals++;
    const body = readBody(rest.slice(end + 4), { lines, isBodiless, isResponse: status !== undefined, hasEnded });
    if (!body) break;
    messages.push({ start, lines, body: body.text, trailers: body.trailers, isWhole: true });
    rest = body.rest;
  }
  return { messages, rest };
}

const startLine = /^(?:HTTP\/1\.1 [1-9]\d\d [\t -~\u0080-\u00ff]*|[A-Z-]+ [!-~\u0080-\u00ff]+ HTTP\/1\.1)$/;
const headerLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\u0080-\u00ff]*$/;

function isSound(start: string, lines: readonly string[]): boolean {
  return startLine.test(start) && lines.every((line) => headerLine.test(line));
}

export function valuesOf(lines: readonly string[], name: string): string[] {
  const prefix = `${name.toLowerCase()}:`;
  return lines.filter((line) => line.toLowerCase().startsWith(prefix)).map((line) => line.slice(prefix.length).trim());
}

interface Body {
  text: string;
  trailers: string[];
  rest: string;
}

interface Framing {
  lines: readonly string[];
  isBodiless: boolean;
  isResponse: boolean;
  hasEnded: boolean;
}

/** Undefined where the body is not whole, or its framing is ambiguous. */
function readBody(text: string, { lines, isBodiless, isResponse, hasEnded }: Framing): Body | undefined {
  const codings = valuesOf(lines, 'transfer-encoding');
  const lengths = valuesOf(lines, 'content-length');
  if (codings.length + lengths.length > 1) return undefined;
  if (isBodiless) return { text: '', trailers: [], rest: text };
  if (codings.length === 1) return codings[0] === 'chunked' ? readChunks(text) : undefined;
  const [length] = lengths;
  if (length !== undefined) {
    if (!/^\d{1,15}$/.test(length) || text.length < Number(length)) return undefined;
    return { text: text.slice(0, Number(length)), trailers: [], rest: text.slice(Number(length)) };
  }
  if (!isResponse) return { text: '', trailers: [], rest: text };
  return hasEnded ? { text, trailers: [], rest: '' } : undefined;
}

function readChunks(text: string): Body | undefined {
  let rest = text;
  let whole = '';
  for (;;) {
    const size = /^([0-9a-f]{1,8})\r\n/i.exec(rest);
    if (!size) return undefined;
    const sizeBytes = Number.parseInt(size[1] ?? '', 16);
    rest = rest.slice(size[0].length);
    if (sizeBytes === 0) break;
    if (rest.slice(sizeBytes, sizeBytes + 2) !== '\r\n') return undefined;
    whole += rest.slice(0, sizeBytes);
    rest = rest.slice(sizeBytes + 2);
  }
  const trailers: string[] = [];
  for (;;) {
    const end = rest.indexOf('\r\n');
    if (end === -1) return undefined;
    const line = rest.slice(0, end);
    rest = rest.slice(end + 2);
    if (line === '') return { text: whole, trailers, rest };
    trailers.push(line);
  }
}
