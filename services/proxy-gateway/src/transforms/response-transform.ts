import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { codingsOf } from '../http/content-coding.ts';
import { contentKind } from '../http/content-type.ts';
import { findHeader, toHeaderObject, withoutHeaders } from '../http/header-list.ts';
import type { Answer, Message, StreamedAnswer } from '../http/message.ts';
import { bytesToRun, bytesWhileDecoding, copies, mostBytesOf } from '../limits/body-memory.ts';
import { collectBody } from '../limits/collect-body.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { runTransform, type Transforming } from './run-transform.ts';
import { applyWritten, passesBy, toTransformMessage, unreadableIn } from './transform-message.ts';

type TransformingAnswers = Transforming & Pick<Context, 'destinations' | 'decodings' | 'bodyLimitBytes'>;

const seesEveryHeader: ReadonlySet<string> = new Set();

/** Runs on JSON, JSON lines and forms with any status, on other text only on success. Other responses are streamed. */
export function isTransformed(proxy: ProxyDefinition, { status, headers }: StreamedAnswer): boolean {
  if (proxy.responseTransform === undefined) return false;
  const kind = contentKind(findHeader(headers, 'content-type'));
  if (kind === 'json' || kind === 'json-lines' || kind === 'form') return true;
  return kind !== 'opaque' && kind !== 'multipart' && status >= 200 && status < 300;
}

export async function transformResponse(
  invocation: Invocation,
  streamed: StreamedAnswer,
  context: TransformingAnswers,
): Promise<Answer> {
  const { clock, proxy } = invocation;
  const answer = { ...streamed, body: await collect(invocation, streamed, context) };
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
    invocation.acting.memory.part('answer').shrinkTo(copies * body.length);
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

async function collect(
  { acting }: Invocation,
  { headers, body }: StreamedAnswer,
  context: TransformingAnswers,
): Promise<Buffer> {
  const { bodyLimitBytes: limitBytes } = context;
  const mostLength = Math.min(Number(findHeader(headers, 'content-length') ?? limitBytes), limitBytes);
  const isCoded = findHeader(headers, 'content-encoding') !== undefined;
  const most = mostBytesOf({ length: mostLength, isCoded, isTransformed: true }, context);
  const memory = acting.memory.part('answer', most);
  const tooLarge = () => {
    const detail = `The response of the destination has more than ${limitBytes} bytes, so the response transform cannot run`;
    return new ServiceError('destination_answer_unusable', detail, { limit: 'body_size' });
  };
  const collected = await collectBody(body, { memory, limitBytes, mostLength, tooLarge });
  memory.shrinkTo(copies * collected.length, bytesToRun(collected.length, context));
  return collected;
}

function unusableAnswer({ detail: why, limit }: { detail: string; limit?: string | undefined }, cause: unknown) {
  const detail = `The response of the destination could not be read for the transform: ${why}`;
  return new ServiceError('destination_answer_unusable', detail, { cause, limit });
}

async function decodeAnswer(invocation: Invocation, answer: Answer, context: TransformingAnswers): Promise<Message> {
  const codings = codingsOf(answer.headers);
  if (codings.length === 0 || answer.body.length === 0) return answer;
  const memory = invocation.acting.memory.part('answer');
  await memory.growTo(bytesWhileDecoding(answer.body.length, context));
  const decode = context.decodings.of(invocation.proxy.tenantId);
  const body = await decode(answer.body, codings, context.bodyLimitBytes).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    throw unusableAnswer(error, error);
  });
  memory.shrinkTo(copies * body.length, bytesToRun(body.length, context));
  return { headers: withoutHeaders(answer.headers, 'content-encoding', 'content-length'), body };
}
