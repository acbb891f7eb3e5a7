import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { contentCodings } from '../http/content-coding.ts';
import { contentKind } from '../http/content-type.ts';
import { findHeader, toHeaderObject, withoutHeaders } from '../http/header-list.ts';
import type { Answer, Message } from '../http/message.ts';
import { bytesToRun, bytesWhileDecoding, keepOnly, memoryOf } from '../limits/body-memory.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { runTransform, type Transforming } from './run-transform.ts';
import { applyWritten, passesBy, toTransformMessage, unreadableIn } from './transform-message.ts';

type TransformingAnswers = Transforming & Pick<Context, 'destinations' | 'decodings' | 'bodyLimitBytes'>;

const seesEveryHeader: ReadonlySet<string> = new Set();

/** Runs on JSON, JSON lines and forms with any status, on other text only on success. Other responses are streamed. */
export function isTransformed(proxy: ProxyDefinition, status: number, headers: readonly string[]): boolean {
  if (proxy.responseTransform === undefined) return false;
  const kind = contentKind(findHeader(headers, 'content-type'));
  if (kind === 'json' || kind === 'json-lines' || kind === 'form') return true;
  return kind !== 'opaque' && kind !== 'multipart' && status >= 200 && status < 300;
}

export async function transformResponse(
  invocation: Invocation,
  answer: Answer,
  context: TransformingAnswers,
): Promise<Answer> {
  const { clock, proxy } = invocation;
  const code = proxy.responseTransform;
  if (code === undefined) return answer;
  clock.enter('transform');
  invocation.answerHeaders = answer.headers;
  const decoded = await decodeAnswer(invocation, answer, context);
  const kind = contentKind(findHeader(decoded.headers, 'content-type'));
  const limits = context.budgets.responseTransform;
  const argsJson = JSON.stringify({ headers: toHeaderObject(decoded.headers, seesEveryHeader) });
  try {
    const seen = toTransformMessage(decoded, kind, limits);
    if (!seen) return answer;
    const written = await runTransform(invocation, { kind: 'response', code, argsJson, message: seen }, context);
    const { headers, body } = applyWritten(written, {
      ...decoded,
      message: 'answer',
      came: answer.headers,
      isBodyNew: decoded.body !== answer.body,
    });
    keepOnly(memoryOf(invocation.acting, 'answer', context), body.length);
    // The filter keeps a transform from setting framing headers and headers with the service's prefix
    return {
      status: answer.status,
      reason: answer.reason,
      headers: context.destinations.headers.response(headers),
      body,
    };
  } catch (error) {
    if (passesBy(error, kind)) return answer;
    const unreadable = unreadableIn(error, limits);
    if (!unreadable) throw error;
    throw unusableAnswer(unreadable, error);
  }
}

function unusableAnswer({ detail: why, limit }: { detail: string; limit?: string | undefined }, cause: unknown) {
  const detail = `The answer of the destination could not be read for the transform: ${why}`;
  return new ServiceError('destination_answer_unusable', detail, { cause, limit });
}

async function decodeAnswer(invocation: Invocation, answer: Answer, context: TransformingAnswers): Promise<Message> {
  const codings = contentCodings(findHeader(answer.headers, 'content-encoding'));
  if (codings.length === 0 || answer.body.length === 0) return answer;
  const memory = memoryOf(invocation.acting, 'answer', context);
  await memory.grow(bytesWhileDecoding(answer.body.length, context) - memory.bytes);
  const decode = context.decodings.of(invocation.proxy.tenantId);
  const body = await decode(answer.body, codings, context.bodyLimitBytes).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    throw unusableAnswer(error, error);
  });
  keepOnly(memory, body.length, bytesToRun(body.length, context));
  return { headers: withoutHeaders(answer.headers, 'content-encoding', 'content-length'), body };
}
