import type { CodeKind } from '../transform-task.ts';
import type { Invocation } from './invocation.ts';
import type { Outcome, Stop } from './outcome.ts';
import { payloadUnits } from './payload-units.ts';
import { NoMemory } from './quickjs.ts';

/** Between the two JSON texts of a result. It is no output. */
export const separator = '\n';
export const tooLong: Outcome = { kind: 'stopped', by: 'outputBytes' };

/** The guest's text of a result: body and headers, or of a reactor the result and what is to become tokens. */
export function resultIn(text: string, { kind, outputBytes }: { kind: CodeKind; outputBytes: number }): Outcome {
  if (Buffer.byteLength(text) - separator.length > outputBytes) return tooLong;
  const [bodyJson, second] = text.split(separator, 2).map((json) => json || undefined);
  if (kind !== 'reactor') return { kind: 'result', bodyJson, headersJson: second };
  // The main thread parses and walks what is to become tokens
  if (second && payloadUnits(second) > outputBytes) return tooLong;
  return { kind: 'result', bodyJson, headersJson: undefined, tokenizeJson: second };
}

export function stopOf(error: unknown, { isShortOfMemory }: Invocation): Stop {
  if (isShortOfMemory) return 'memoryWait';
  if (error instanceof NoMemory) return 'heapBytes';
  return error instanceof RangeError ? 'stackBytes' : 'crashed';
}

/** An error of the code itself leaves the guest usable; a limit does not. */
export function isReusable({ outcome }: Invocation): boolean {
  if (outcome?.kind === 'thrown')
    return !(outcome.failure.kind === 'error' && outcome.failure.name === 'InternalError');
  return outcome?.kind === 'result';
}
