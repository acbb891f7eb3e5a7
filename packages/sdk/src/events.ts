import { ConnectionError } from './errors.ts';

/** What comes of an event stream: an item, or how many items were left out before the next one. */
export type StreamEvent<Item> =
  | { event: 'invocation'; id: string; data: Item }
  | { event: 'skipped'; id?: string; data: { skipped: number } };

interface Fields {
  event: string;
  id?: string;
  data: string;
}

/**
 * The events of a stream (WHATWG HTML, server-sent events) as they come. Leaving the loop ends the connection.
 * @throws {ConnectionError} when the stream ends, which it does with the right to it, after an hour and with its service.
 */
export async function* readEvents<Item>(
  open: () => Promise<Response>,
  operation: string,
): AsyncGenerator<StreamEvent<Item>, never, void> {
  const { body } = await open();
  try {
    for await (const { event, id, data } of fieldsOf(body)) {
      yield { event, ...(id !== undefined && { id }), data: JSON.parse(data) } as StreamEvent<Item>;
    }
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause; // what fetch throws where a connection breaks
  }
  throw new ConnectionError({ operation, code: undefined, title: 'the event stream ended' });
}

async function* fieldsOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Fields, void, void> {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = toFields(block);
        if (fields) yield fields;
      }
    }
  } finally {
    // Of a stream that has failed already, there is nothing to cancel
    await reader.cancel().catch(() => undefined);
  }
}

/** Undefined for a block of comments. */
function toFields(block: string): Fields | undefined {
  const fields: Partial<Fields> = {};
  for (const line of block.split('\n')) {
    const match = /^(event|id|data): ?(.*)$/.exec(line);
    if (match) fields[match[1] as keyof Fields] = match[2] ?? '';
  }
  const { event, data, id } = fields;
  return event === undefined || data === undefined ? undefined : { event, data, ...(id !== undefined && { id }) };
}
