import type { ServerResponse } from 'node:http';
import type { BodyBytes, BodyDirection } from '@sluice/body-bytes';
import type { Context } from '../context.ts';
import { HeldBody, mostMemoryOf } from './held-body.ts';
import { HeldDecoder } from './held-decoder.ts';

export interface BodyHolder {
  readonly response: ServerResponse;
  readonly proxy: { readonly tenantId: string };
  readonly held: Partial<Record<BodyDirection, HeldBody>>;
}

interface BodyToHold {
  contentLength: number | undefined;
  isCoded: boolean;
  isTransformed: boolean;
}

export function heldBody(
  holder: BodyHolder,
  direction: BodyDirection,
  { bodyBytes, decoderBytes, bodyLimitBytes, budgets }: Context,
  body: BodyToHold = { contentLength: 0, isCoded: false, isTransformed: true },
): HeldBody {
  const known = holder.held[direction];
  if (known) return known;
  const codedBytes = Math.min(body.contentLength ?? bodyLimitBytes, bodyLimitBytes);
  const sizes = { codedBytes, bodyLimitBytes, resultBytes: budgets.resultBytes };
  const bytes = body.isCoded ? bodyLimitBytes : codedBytes;
  const most = mostMemoryOf(bytes, body.isTransformed, sizes) + (body.isCoded ? codedBytes : 0);
  const { tenantId } = holder.proxy;
  const reservation = bodyBytes.open(tenantId, direction, most);
  const mayStream = body.isCoded && !body.isTransformed;
  const open = (bytes: BodyBytes) => bytes.open(tenantId, direction, 0);
  const decoder = mayStream ? new HeldDecoder(open(decoderBytes), open(bodyBytes)) : undefined;
  const held = new HeldBody(reservation, sizes, decoder);
  if (holder.response.destroyed) held.stopWaiting();
  holder.held[direction] = held;
  return held;
}
