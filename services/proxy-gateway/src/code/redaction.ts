import { type FieldErrors, ServiceError } from '@sluice/problems';
import { type ConsoleLine, type Redaction, TransformThrew } from '@sluice/sandbox';
import type { Pieces } from '@sluice/service-runtime';
import type { Acting, Owner } from '../acting/acting.ts';
import type { Context } from '../context.ts';
import { redactConsole, withheldMark } from './console/redact.ts';
import { ConsoleSecrets } from './console/secrets.ts';

/** Hides the values that the code of `acting` has seen. Lines that `isShown` refuses are left out. */
export function redactionOf<O extends Owner>(
  acting: Acting<O>,
  { workPieces }: Pick<Context, 'workPieces'>,
  isShown: (lines: readonly ConsoleLine[]) => boolean = () => true,
): Redaction {
  const { tenantId } = acting;
  return {
    lines: (lines, configurationJson) =>
      isShown(lines) ? workPieces.run(tenantId, redactConsole(lines, secretsOf(acting, configurationJson))) : [],
    error: (error, configurationJson) =>
      workPieces.run(
        tenantId,
        redactThrown(error, () => secretsOf(acting, configurationJson)),
      ),
  };
}

/** Undefined if there are too many to search for. */
function secretsOf<O extends Owner>({ secrets }: Acting<O>, configurationJson: string): readonly string[] | undefined {
  if (secrets?.isTooMuch) return undefined;
  const all = new ConsoleSecrets();
  all.add(Object.values(JSON.parse(configurationJson)));
  all.add(secrets?.texts() ?? []);
  return all.texts();
}

/** The error of a transform's code must reveal no more than its console. Other errors stay unchanged. */
function* redactThrown(error: unknown, secrets: () => readonly string[] | undefined): Pieces<unknown> {
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
