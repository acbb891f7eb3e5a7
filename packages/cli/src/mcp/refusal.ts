import { SluiceError } from '@sluice/sdk';
import { isObject } from '../apply/is-object.ts';
import { RefusedError } from '../failure.ts';
import type { Received } from './answer.ts';

/** More than a refusal of Sluice has. */
const longestRefusalBytes = 256 * 1024;

const jsonType = /^application\/(json|[^;]*\+json)\s*(;|$)/i;

/**
 * Returns a response that is no refusal, with its whole body unread. Reads only as much as a refusal may have, because
 * the body of another response may be long, or may not end.
 * @throws {SluiceError | RefusedError} a refusal of Sluice.
 */
export async function throwRefusal(response: Response, operation: string): Promise<Received> {
  const { status, headers, body } = response;
  if (!body || !jsonType.test(headers.get('Content-Type') ?? '')) return response;
  const reader = body.getReader();
  const begun: Uint8Array[] = [];
  let isWhole = false;
  for (let sizeBytes = 0; !isWhole && sizeBytes <= longestRefusalBytes; ) {
    const { done, value } = await reader.read();
    isWhole = done;
    if (value) begun.push(value);
    sizeBytes += value?.length ?? 0;
  }
  const refusal = isWhole ? refusalIn(Buffer.concat(begun).toString(), operation, response) : undefined;
  if (refusal) throw refusal;
  return { status, headers, body: continued(begun, reader) };
}

/** A stream of what was read already, and then of the rest. */
function continued(begun: Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(stream) {
      const chunk = begun.shift() ?? (await reader.read()).value;
      if (chunk) stream.enqueue(chunk);
      else stream.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/**
 * A refusal of Sluice's. One that came after the destination had answered is a RefusedError, so that no such call is
 * taken for one that may be sent again.
 */
function refusalIn(text: string, operation: string, { status, headers }: Response): Error | undefined {
  const { proxy_error: problem } = parseObject(text);
  if (!isObject(problem)) return undefined;
  const { title, detail, errors, instance, destination_status: answered } = problem as ProxyError;
  const failure = {
    operation,
    status,
    title: title ?? 'Sluice has refused the call',
    detail,
    errors,
    traceId: instance,
  };
  const error = new SluiceError(failure);
  if (answered !== undefined)
    return new RefusedError(
      `${error.message} The destination has acted and answered ${answered}. Its answer is not shown.`,
    );
  if (headers.get('X-Should-Retry') === 'false' && status >= 500)
    return new RefusedError(
      `${error.message} The destination may have acted on the call. Before you send the call again, find out whether it has.`,
    );
  return error;
}

interface ProxyError {
  title?: string;
  detail?: string;
  errors?: Record<string, string[]>;
  instance?: string;
  destination_status?: number;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {}; // a balancer's page, which is answered as it is
  }
}
