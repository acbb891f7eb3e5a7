import type { ServerResponse } from 'node:http';
import { openBodyBytes } from '@sluice/body-bytes';
import type { Context } from '../context.ts';
import type { HeldBody } from './held-body.ts';
import { openingOf } from './opening.ts';

const kibibyte = 1024;

test('token data opened for a streamed body keeps no room free for a transform that does not run', async () => {
  const config = { BODY_HELD_BYTES: 1024 * kibibyte, BODY_HELD_TENANT_BYTES: 1024 * kibibyte, BODY_WAIT_MS: 100 };
  const bodyBytes = openBodyBytes(config, { part: 0.4, requestPart: 0.75 });
  const context = { bodyBytes, bodyLimitBytes: 5120 * kibibyte, budgets: { resultBytes: 5120 * kibibyte } } as Context;
  const held: { request?: HeldBody } = {};
  const response = { destroyed: false } as ServerResponse;
  const opener = { held, response, proxy: { tenantId: 'a' }, opening: undefined, destinationStatus: undefined };

  await openingOf(opener, context).hold?.(20 * kibibyte);
  expect(bodyBytes.held).toBe(40 * kibibyte);
  const neighbour = bodyBytes.open('b', 'request', 600 * kibibyte);
  const waiting = neighbour.growTo(600 * kibibyte);
  expect(waiting).toBeUndefined();
  neighbour.release();
  held.request?.release();
  expect(bodyBytes.held).toBe(0);
});
