import { ServiceError } from '@sluice/problems';
import type { Context } from '../context.ts';
import { contentCodings, decodeBody } from '../http/content-coding.ts';
import { contentKind } from '../http/content-type.ts';
import { findHeader, toHeaderObject, withoutHeaders } from '../http/header-list.ts';
import type { Answer, Message } from '../http/message.ts';
import type { ProxyDefinition } from '../proxies/definition.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { applyResult, runTransform } from './run-transform.ts';
import { toArgsBody } from './transform-body.ts';

const seesEveryHeader: ReadonlySet<string> = new Set();

/**
 * Whether the Proxy's response transform runs on an answer with this head: JSON and forms whatever the status, other
 * text only on success. What may not be seen streams through.
 */
export function isTransformed(proxy: ProxyDefinition, status: number, headers: readonly string[]): boolean {
  if (proxy.responseTransform === undefined) return false;
  const kind = contentKind(findHeader(headers, 'content-type'));
  if (kind === 'json' || kind === 'form') return true;
  return kind !== 'opaque' && kind !== 'multipart' && status >= 200 && status < 300;
}

/** Runs the Proxy's response transform on a collected answer. */
export async function transformResponse(invocation: Invocation, answer: Answer, context: Context): Promise<Answer> {
  const code = invocation.proxy.responseTransform;
  if (code === undefined) return answer;
  const { decoded, bodyJson } = await readAnswer(answer, context.bodyLimitBytes);
  if (bodyJson === undefined) return answer;
  const headers = JSON.stringify(toHeaderObject(decoded.headers, seesEveryHeader));
  const argsJson = `{"body":${bodyJson},"headers":${headers}}`;
  const result = await runTransform(invocation, { kind: 'response', code, argsJson }, context);
  const { headers: resulting, body } = applyResult(result, decoded);
  // A transform may return any header; what frames this connection, and what has our prefix, stays ours.
  return { status: answer.status, headers: context.destinations.headers.response(resulting), body };
}

async function readAnswer(answer: Answer, limitBytes: number) {
  try {
    const decoded = await decodeAnswer(answer, limitBytes);
    return { decoded, bodyJson: toArgsBody(decoded.body, contentKind(findHeader(decoded.headers, 'content-type'))) };
  } catch (error) {
    // The destination's fault, not the caller's.
    throw new ServiceError('transform_failed', 'The answer of the destination could not be read for the transform', {
      cause: error,
    });
  }
}

async function decodeAnswer(answer: Answer, limitBytes: number): Promise<Message> {
  const codings = contentCodings(findHeader(answer.headers, 'content-encoding'));
  if (codings.length === 0 || answer.body.length === 0) return answer;
  const body = await decodeBody(answer.body, codings, limitBytes);
  return { headers: withoutHeaders(answer.headers, 'content-encoding', 'content-length'), body };
}
