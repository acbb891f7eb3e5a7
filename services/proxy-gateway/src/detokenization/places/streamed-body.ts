import type { Readable } from 'node:stream';
import type { Json, SeenTokens } from '@sluice/vault';
import { type Looking, look } from '../../acting/look.ts';
import type { Context } from '../../context.ts';
import { feed } from '../../http/content-coding.ts';
import type { ContentKind } from '../../http/content-type.ts';
import type { HeaderList, RequestMessage } from '../../http/message.ts';
import { withoutValidators } from '../../http/validators.ts';
import type { Asked } from '../asked.ts';
import { bodyCharset } from '../body-charset.ts';
import { guardUnfiltered } from '../detokenize.ts';
import { type DecryptingTokens, decryptTokens, recordDisclosure, spendUsesOf } from '../disclose.ts';
import { boundaryOf } from '../multipart/boundary.ts';
import { heldWhileStreaming, RevealStream } from '../stream/reveal-stream.ts';
import type { Filling, Part } from './part.ts';

export type Streaming = DecryptingTokens & Looking & Pick<Context, 'bodyLimitBytes' | 'workPieces'>;

interface Streamed {
  kind: Exclude<ContentKind, 'opaque'>;
  headers: HeaderList;
  body: Readable;
}

/** Its places are found and recorded window by window, after the head of the message has been sent. */
export class StreamedBody implements Part<Streaming> {
  readonly names = ['body'];
  readonly places = [];
  readonly #streamed: Streamed;

  constructor(streamed: Streamed) {
    this.#streamed = streamed;
  }

  async fill(message: RequestMessage, filling: Filling, context: Streaming): Promise<RequestMessage> {
    const { acting, request } = filling.invocation;
    await acting.memory.part('request').grow(heldWhileStreaming);
    const body = revealWhileStreaming(filling, this.#streamed, context);
    // Whether it contains an expression is known only after its headers have been sent
    return { ...message, headers: withoutValidators(message.headers, request.headers), body, isBodyNew: true };
  }
}

function revealWhileStreaming(
  { invocation, values, otherTokens }: Filling,
  { kind, headers, body }: Streamed,
  context: Streaming,
): Readable {
  const { guard } = invocation.acting;
  const fetchValues = async (asked: Asked) => {
    const decrypted = await decryptTokens(invocation, asked, context);
    guardUnfiltered(asked.places, decrypted.values, guard);
    await spendUsesOf(invocation, decrypted, undefined, context);
    await recordDisclosure(invocation, { ...decrypted, places: ['body'] }, context.vault);
    return decrypted.values;
  };
  const boundary = kind === 'multipart' ? boundaryOf(headers) : undefined;
  const { tenantId } = invocation.proxy;
  const stream = new RevealStream({
    kind,
    boundary,
    charsetOf: (start) => bodyCharset(kind, headers, start),
    ...withoutBound(values, otherTokens, invocation.acting.seen),
    fetchValues,
    guard,
    look: () => look(invocation.acting, context),
    run: (work) => context.workPieces.run(tenantId, work),
    reserve: () => invocation.acting.memory.part('window'),
    limitBytes: context.bodyLimitBytes,
  });
  invocation.revealing = stream;
  invocation.acting.isStreamed = true;
  return feed(body, stream);
}

/** A token that is bound is judged again in the body, because its `use` may allow other places only. */
function withoutBound(
  known: ReadonlyMap<string, Json>,
  otherTokens: ReadonlySet<string>,
  seen: Pick<SeenTokens, 'isBound'>,
): { known: ReadonlyMap<string, Json>; otherTokens: ReadonlySet<string> } {
  const bound = [...known.keys()].filter((id) => seen.isBound(id));
  if (bound.length === 0) return { known, otherTokens };
  const free = [...known].filter(([id]) => !seen.isBound(id));
  return { known: new Map(free), otherTokens: new Set([...otherTokens, ...bound]) };
}
