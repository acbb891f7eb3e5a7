import type { Acting } from '../acting/acting.ts';
import type { Context } from '../context.ts';
import { RequestGuard } from '../guard/request-guard.ts';
import type { GuardMode } from '../guard/response-guard.ts';
import type { Answer, StreamedAnswer } from '../http/message.ts';
import type { Invocation } from '../proxies/invocation.ts';

/** Collects what is put into the request, see {@link openGuard}. */
export function requestGuard(
  { memory, tenantId }: Pick<Acting, 'memory' | 'tenantId'>,
  mode: GuardMode,
  { workPieces }: Pick<Context, 'workPieces'>,
): RequestGuard {
  return new RequestGuard(mode, {
    memory: () => memory.part('guard'),
    inPieces: (work) => workPieces.run(tenantId, work),
  });
}

/** Call it before the head of a response is written, also of one that code or an error made. */
export async function openGuard(invocation: Invocation, answer?: Answer | StreamedAnswer): Promise<void> {
  try {
    invocation.responseGuard = await invocation.acting.guard?.open(invocation.revealing !== undefined);
  } catch (error) {
    if (answer && !Buffer.isBuffer(answer.body)) answer.body.abort(error);
    throw error;
  }
}
