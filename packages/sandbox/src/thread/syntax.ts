import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { type Place, parseAlone, placeInCode, stackAt } from './module-code.ts';
import type { GuestFailure, Outcome } from './outcome.ts';
import { readError } from './thrown.ts';

type ErrorOfCode = Extract<GuestFailure, { kind: 'error' }>;

/** Place and message refer to the Tenant's own code, never to the function around it. Disposes the handle. */
export function readSyntaxError(context: QuickJSContext, error: QuickJSHandle, code: string): Outcome {
  const outcome = readError(context, error);
  if (outcome.kind !== 'thrown' || outcome.failure.kind !== 'error') return outcome;
  if (outcome.failure.name !== 'SyntaxError') return outcome;
  return { kind: 'thrown', failure: explained(context, outcome.failure, code) };
}

function explained(context: QuickJSContext, failure: ErrorOfCode, code: string): ErrorOfCode {
  const place = placeInCode(failure.stack ?? '');
  const end = endOf(code);
  if (place && !isAfter(place, end)) return { ...failure, message: messageAt(place, failure.message ?? '', code) };
  return { ...failure, ...closedTooOften(context, code, end) };
}

/** For code without its end, or with a brace too many, which closed the function around it. */
function closedTooOften(context: QuickJSContext, code: string, end: Place): Pick<ErrorOfCode, 'message' | 'stack'> {
  const unexpectedEnd = { message: 'unexpected end of the code', stack: stackAt(end) };
  const alone = parseAlone(context, code);
  if (!alone.error) {
    alone.value.dispose();
    return unexpectedEnd;
  }
  const outcome = readError(context, alone.error);
  if (outcome.kind !== 'thrown' || outcome.failure.kind !== 'error') return unexpectedEnd;
  const { message = '', stack = '' } = outcome.failure;
  const place = placeInCode(stack);
  const token = /'([})\]])'/.exec(message)?.[1];
  if (!place || !token || isAfter(place, end)) return unexpectedEnd;
  return { message: `unexpected '${token}': it has no opening bracket`, stack: stackAt(place) };
}

/** Explains the most common mistakes, for which QuickJS only names a rule of its grammar. */
function messageAt({ line, column }: Place, message: string, code: string): string {
  const before = code.split('\n')[line - 1]?.slice(0, column - 1) ?? '';
  if (/^unsupported keyword: export/.test(message)) return 'export is not supported: use module.exports = …';
  if (/\bimport\s*$/.test(before)) return "import is not supported: use const … = require('…')";
  if (/\bawait\s*$/.test(before)) return 'await is only possible in an async function';
  return message;
}

function endOf(code: string): Place {
  const lines = code.trimEnd().split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

const isAfter = (place: Place, end: Place) =>
  place.line > end.line || (place.line === end.line && place.column >= end.column);
