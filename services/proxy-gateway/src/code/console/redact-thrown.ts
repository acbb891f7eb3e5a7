import { type FieldErrors, ServiceError } from '@sluice/problems';
import { TransformThrew } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import { redactConsole, withheldMark } from './redact.ts';

/** The error of a transform's code must reveal no more than its console. Other errors stay unchanged. */
export function* redactThrown(error: unknown, secrets: () => readonly string[] | undefined): Pieces<unknown> {
  if (!(error instanceof ServiceError && error.cause instanceof TransformThrew)) return error;
  const { code, status, detail, errors = {}, cause, limit } = error;
  const texts = [detail, ...Object.entries(errors).flatMap(([path, messages]) => [path, ...messages])];
  const lines = texts.map((text) => ({ level: 'error' as const, text }));
  const shown = yield* redactConsole(lines, secrets());
  const [first = withheldMark, ...rest] = shown.map(({ text }) => text);
  const place = first === withheldMark && cause.place ? ` (line ${cause.place.line})` : '';
  const redacted = Object.keys(errors).length > 0 ? fieldErrors(errors, rest) : undefined;
  return new ServiceError(code, first + place, { status, ...(redacted && { errors: redacted }), cause, limit });
}

/** The texts alternate between a path and its messages. */
function fieldErrors(errors: FieldErrors, shown: string[]): FieldErrors {
  const redacted: FieldErrors = Object.create(null);
  let at = 0;
  for (const messages of Object.values(errors)) {
    const path = shown[at] ?? withheldMark;
    redacted[path] = [...(redacted[path] ?? []), ...shown.slice(at + 1, at + 1 + messages.length)];
    at += 1 + messages.length;
  }
  return redacted;
}
