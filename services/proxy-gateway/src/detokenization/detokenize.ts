import { ServiceError } from '@sluice/problems';
import { type Actor, evaluateExpression, mostDistinctTokens, revealForUse, type Vault } from '@sluice/vault';
import type { Place } from './place.ts';

export interface Detokenized {
  body: Buffer;
  /** The tokens whose plaintext is in the body now. */
  tokenIds: readonly string[];
}

/**
 * Puts the values in the places of a body. One query for all tokens.
 * @throws {ServiceError} 400 naming unknown tokens or over 100 of them, 403 naming those that the actor may not use.
 */
export async function detokenize(
  body: Buffer,
  places: readonly Place[],
  { vault, actor, limitBytes }: { vault: Vault; actor: Actor; limitBytes: number },
): Promise<Detokenized> {
  const ids = idsIn(places);
  const revealed = await revealForUse(vault, actor, ids);
  const pieces: Buffer[] = [];
  let position = 0;
  let size = body.length;
  for (const place of places) {
    const text = place.write((expression) =>
      evaluateExpression(expression, revealed.get(expression.reference) ?? null),
    );
    size += text.length;
    if (size > limitBytes) throw tooLarge(limitBytes);
    pieces.push(body.subarray(position, place.start), Buffer.from(text));
    position = place.end;
  }
  pieces.push(body.subarray(position));
  return { body: Buffer.concat(pieces), tokenIds: ids };
}

function idsIn(places: readonly Place[]): string[] {
  const ids = new Set<string>();
  for (const { segments } of places) {
    for (const segment of segments) if (segment.kind === 'expression') ids.add(segment.reference);
  }
  if (ids.size <= mostDistinctTokens) return [...ids];
  throw new ServiceError('invalid_proxy_request', `A request may name at most ${mostDistinctTokens} tokens`);
}

/** A small body can name a large token many times. */
function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `With its values the body may have at most ${limitBytes} bytes`);
}
