import type { ConsoleLine, Redaction } from '@sluice/sandbox';
import type { Acting, Owner } from '../acting/acting.ts';
import type { Context } from '../context.ts';
import { redactConsole } from './console/redact.ts';
import { redactThrown } from './console/redact-thrown.ts';
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
