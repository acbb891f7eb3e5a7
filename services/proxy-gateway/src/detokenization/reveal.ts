import type { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { feed } from '../http/body-stream.ts';
import type { ContentKind } from '../http/content-type.ts';
import type { RequestMessage } from '../http/message.ts';
import { fillPlaces, newTokenIdsIn } from './detokenize.ts';
import { discloseTokens, type RevealInput } from './disclose.ts';
import { findExpressions, mayHoldExpression } from './find-expressions.ts';
import { RevealStream } from './stream/reveal-stream.ts';

/** Notes the disclosure, then puts the values in the place of the expressions: what a filter fails on tells of them, too. */
export async function reveal(message: RequestMessage, input: RevealInput, context: Context): Promise<RequestMessage> {
  const { kind } = message;
  if (kind === 'opaque' || (!input.caller && input.invocation.apiKey === undefined)) return message;
  const body = Buffer.isBuffer(message.body)
    ? await revealInMemory(message.body, { ...input, kind }, context)
    : revealWhileStreaming(message.body, { ...input, kind }, context);
  return { ...message, body };
}

interface BodyInput extends RevealInput {
  kind: Exclude<ContentKind, 'opaque'>;
}

async function revealInMemory(body: Buffer, input: BodyInput, context: Context): Promise<Buffer> {
  if (!mayHoldExpression(body)) return body;
  const places = findExpressions(body, input.kind === 'none' ? untypedKind(body) : input.kind);
  if (places.length === 0) return body;
  const values = await discloseTokens(newTokenIdsIn(places), input, context);
  return fillPlaces(body, places, { values, limitBytes: context.bodyLimitBytes });
}

/** An upload can take long: nothing new is revealed for a key that was revoked after it began. */
function revealWhileStreaming(body: Readable, input: BodyInput, context: Context): Readable {
  const fetchValues = (ids: readonly string[]) => discloseTokens(ids, { ...input, caller: undefined }, context);
  return feed(body, new RevealStream({ kind: input.kind, fetchValues, limitBytes: context.bodyLimitBytes }));
}

/** A body without content type is JSON if it parses. */
function untypedKind(body: Buffer): ContentKind {
  try {
    JSON.parse(body.toString());
    return 'json';
  } catch {
    return 'opaque';
  }
}
