import type { ServerResponse } from 'node:http';
import { openBodyBytes } from '@sluice/body-bytes';
import type { Held } from './body-memory.ts';
import { openingForCode, openingOf } from './opening.ts';

const kibibyte = 1024;

test('token data opened for a streamed body keeps no room free for a transform that does not run', async () => {
  const config = { BODY_HELD_BYTES: 1024 * kibibyte, BODY_HELD_TENANT_BYTES: 1024 * kibibyte, BODY_WAIT_MS: 100 };
  const bodyBytes = openBodyBytes(config, { part: 0.4, requestPart: 0.75 });
  const held: Held = {};
  const response = { destroyed: false } as ServerResponse;
  const opener = { held, response, tenantId: 'a', opening: undefined, destinationStatus: undefined };

  await openingOf(opener, { bodyBytes }).hold?.(20 * kibibyte);
  expect(bodyBytes.held).toBe(20 * kibibyte);
  const neighbour = bodyBytes.open({ tenantId: 'b', direction: 'request' });
  const waiting = neighbour.grow(600 * kibibyte);
  expect(waiting).toBeUndefined();
  neighbour.release();
  held.request?.release();
  expect(bodyBytes.held).toBe(0);
});

test('what code opens is reserved twice, and takes from the same limit', async () => {
  const config = { BODY_HELD_BYTES: 1024 * kibibyte, BODY_HELD_TENANT_BYTES: 1024 * kibibyte, BODY_WAIT_MS: 100 };
  const bodyBytes = openBodyBytes(config, { part: 0.4, requestPart: 0.75 });
  const response = { destroyed: false } as ServerResponse;
  const opener = { held: {}, response, tenantId: 'a', opening: undefined, destinationStatus: undefined };
  const ofCode = openingForCode(opener, { bodyBytes });
  await ofCode.hold?.(20 * kibibyte);
  expect(bodyBytes.held).toBe(40 * kibibyte);
  ofCode.leftBytes -= 1000;
  expect(openingOf(opener, { bodyBytes }).leftBytes).toBe(ofCode.leftBytes);
});
