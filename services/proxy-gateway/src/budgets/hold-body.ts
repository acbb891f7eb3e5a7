import type { Context } from '../context.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { HeldBody, mostOf } from './held-body.ts';
import type { BodyDirection } from './room.ts';

interface BodyToHold {
  /** Of the received body; undefined where it is unknown. */
  contentLength: number | undefined;
  isCoded: boolean;
  isTransformed: boolean;
}

export function heldBody(
  invocation: Invocation,
  direction: BodyDirection,
  { bodyBytes, bodyLimitBytes, budgets }: Context,
  body: BodyToHold = { contentLength: 0, isCoded: false, isTransformed: true },
): HeldBody {
  const known = invocation.held[direction];
  if (known) return known;
  const codedBytes = Math.min(body.contentLength ?? bodyLimitBytes, bodyLimitBytes);
  const sizes = { codedBytes, bodyLimitBytes, resultBytes: budgets.resultBytes };
  const bytes = body.isCoded ? bodyLimitBytes : codedBytes;
  const most = mostOf(bytes, { ...sizes, isTransformed: body.isTransformed }) + (body.isCoded ? codedBytes : 0);
  const held = new HeldBody(bodyBytes.open(invocation.proxy.tenantId, direction, most), sizes);
  if (invocation.response.destroyed) held.stopWaiting();
  invocation.held[direction] = held;
  return held;
}
