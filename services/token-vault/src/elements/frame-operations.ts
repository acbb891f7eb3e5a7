import { decide } from '@sluice/access';
import type { Asking, Operation } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { findInputs, isComparable, isNestedDeeperThan, type Json } from '@sluice/vault';
import { actorOf, type Context } from '../context.ts';
import { tokenizeOperation } from '../tokenization/tokenization.routes.ts';
import { createTokenOperation, getToken, patchTokenOperation } from '../tokens/token.routes.ts';

/** Members that a frame gives only to a card. */
const ofCards = ['cvc', 'number', 'expiration_month', 'expiration_year'];

/**
 * Operations at the host of the fields. The page around a frame chooses type and token, and the frame cannot know what
 * the token is. Only in a card a security code has no fingerprint and is deleted after an hour, so no other token may
 * get one. Frames read or change a token only with the key of a session.
 */
export const fieldsOperations = [
  judged(createTokenOperation, ({ body }) => refuseCode(body)),
  judged(tokenizeOperation, ({ body }) => {
    // Deeper nesting is refused by the operation itself.
    if (!isNestedDeeperThan(500, body as Json)) findInputs(body as Json, '', refuseCode);
  }),
  { ...getToken, takesKeyOf: 'session' as const },
  judged({ ...patchTokenOperation, takesKeyOf: 'session' as const }, requireCard),
];

interface FrameInput extends Asking {
  body: unknown;
  params: { id?: string };
}

/** The operation, which first judges its input as a frame's. */
function judged(
  operation: Operation<Context>,
  judge: (input: FrameInput, context: Context) => void | Promise<void>,
): Operation<Context> {
  return {
    ...operation,
    async handle(input: never, context: Context) {
      await judge(input, context);
      return operation.handle(input, context);
    },
  };
}

function membersOf(data: unknown): string[] {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? Object.keys(data) : [];
}

/** @throws {ServiceError} 403 for a security code in a token that is no card. */
function refuseCode(input: unknown): void {
  const { type, data } = input as { type?: unknown; data?: unknown };
  if (type !== 'card' && membersOf(data).includes('cvc')) {
    throw new ServiceError('forbidden', 'data.cvc: on this host only a token of type card may have a security code');
  }
}

/**
 * The type of a token never changes. The page may have made the card itself, with a fingerprint of the security code, and
 * would then guess what a person types.
 * @throws {ServiceError} 403 for parts of a card in a token that is none, and for a code that could be compared with guesses.
 */
async function requireCard({ body, params: { id = '' }, ...asking }: FrameInput, { vault }: Context): Promise<void> {
  const members = membersOf((body as { data?: unknown }).data);
  const member = members.find((name) => ofCards.includes(name));
  if (member === undefined) return;
  const actor = actorOf(asking);
  const [token] = await vault.tokens.find(actor.tenantId, [id]);
  // Whoever may not change the token is told by the operation itself, whatever its type.
  if (!token || !decide(actor, 'token:update', token)) return;
  if (token.type === 'card') {
    if (!members.includes('cvc') || !isComparable(token, 'cvc')) return;
    const detail =
      'data.cvc: on this host the security code cannot be changed, because fingerprint_expression or search_indexes use the security code';
    throw new ServiceError('forbidden', detail);
  }
  throw new ServiceError(
    'forbidden',
    `data.${member}: on this host, this field can be set only on a token of type card`,
  );
}
