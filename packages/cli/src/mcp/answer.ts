/** What a tool answers. */
export interface Answer {
  text: string[];
  /** The service refused; an answer of the destination never counts as an error. */
  isError: boolean;
}

/** What of a response is told. */
export type Received = Pick<Response, 'status' | 'headers' | 'body'>;

const longestText = 40_000;

const textTypes =
  /^(text\/.*|application\/(json|.*\+json|xml|.*\+xml|javascript|x-ndjson|ndjson|json-seq|graphql|yaml|toml|x-www-form-urlencoded|x-amz-json-.*))$/;

/**
 * Status, content type and body of a response, for a language model. Of a body that is no text only the size is told.
 * @param signal ends the reading of a body that does not end; what has arrived by then is told.
 */
export async function answerOf(response: Received, signal: AbortSignal): Promise<Answer> {
  const type = response.headers.get('Content-Type');
  const decoder = decoderFor(type);
  const read = decoder ? await readText(response.body, decoder, signal) : await readSize(response, signal);
  const head = [
    `status: ${response.status}`,
    `content-type: ${type ?? 'none'}`,
    ...read.notes.map((one) => `note: ${one}`),
  ];
  return { text: [head.join('\n'), ...read.text], isError: false };
}

interface Read {
  notes: string[];
  text: string[];
}

/** Undefined for a body that is no text. One without a type is text if it is UTF-8. */
function decoderFor(type: string | null): TextDecoder | undefined {
  if (type === null) return new TextDecoder('utf-8', { fatal: true });
  const [essence = '', ...parameters] = type.toLowerCase().split(';');
  if (!textTypes.test(essence.trim())) return undefined;
  const charset = parameters.map((one) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/.exec(one)?.[1]).find(Boolean);
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch {
    return undefined; // a charset that nobody knows
  }
}

async function readText(body: Response['body'], decoder: TextDecoder, signal: AbortSignal): Promise<Read> {
  let text = '';
  let sizeBytes = 0;
  let isText = true;
  const decode = (chunk?: Uint8Array) => {
    try {
      text += chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    } catch {
      isText = false;
    }
  };
  const ended = await readChunks(body, signal, (chunk) => {
    sizeBytes += chunk.length;
    if (isText) decode(chunk);
    return !isText || text.length <= longestText;
  });
  if (isText && ended === 'whole') decode();
  if (!isText) return { notes: [sizeNote(sizeBytes, ended)], text: [] };
  if (text.length <= longestText)
    return { notes: ended === 'whole' ? [] : [unfinished], text: text === '' ? [] : [text] };
  const note = `The body is longer. These are its first ${longestText.toLocaleString('en')} characters; the rest is cut off.`;
  return { notes: [note], text: [text.slice(0, longestText).replace(halfCharacter, '')] };
}

/** The first of the two code units of an emoji, for example. Alone it is no valid text. */
const halfCharacter = /[\uD800-\uDBFF]$/;

const unfinished = 'The response did not end in time. This is the part that arrived.';

async function readSize(response: Received, signal: AbortSignal): Promise<Read> {
  const { headers, body } = response;
  const declared = headers.has('Content-Encoding') ? null : headers.get('Content-Length');
  if (declared !== null && /^\d{1,15}$/.test(declared)) {
    await body?.cancel();
    return { notes: [sizeNote(Number(declared), 'whole')], text: [] };
  }
  let sizeBytes = 0;
  const ended = await readChunks(body, signal, (chunk) => {
    sizeBytes += chunk.length;
    return true;
  });
  return { notes: [sizeNote(sizeBytes, ended)], text: [] };
}

function sizeNote(sizeBytes: number, ended: 'whole' | 'stopped'): string {
  return `The body is not text, so it is not shown. Its size is ${ended === 'whole' ? '' : 'at least '}${sizeBytes} ${sizeBytes === 1 ? 'byte' : 'bytes'}.`;
}

/** @param take returns whether more is wanted. @throws {TypeError} if the connection is lost. */
async function readChunks(
  body: Response['body'],
  signal: AbortSignal,
  take: (chunk: Uint8Array) => boolean,
): Promise<'whole' | 'stopped'> {
  if (!body) return 'whole';
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined); // the connection may be lost already
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      if (signal.aborted) return 'stopped';
      const { done, value } = await reader.read();
      if (done) return signal.aborted ? 'stopped' : 'whole';
      if (!take(value)) {
        stop();
        return 'stopped';
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
