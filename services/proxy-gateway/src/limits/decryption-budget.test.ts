import type { ServerResponse } from 'node:http';
import { bodyBytesFrom } from '@sluice/body-bytes';
import type { Held } from './body-memory.ts';
import { decryptionBudgetForCode, decryptionBudgetOf } from './decryption-budget.ts';

const kibibyte = 1024;
const reading = { direction: 'request', isStreamed: false } as const;

test('token data decrypted for a streamed body keeps no room free for a transform that does not run', async () => {
  const config = { BODY_HELD_BYTES: 1024 * kibibyte, BODY_HELD_TENANT_BYTES: 1024 * kibibyte, BODY_WAIT_MS: 100 };
  const bodyBytes = bodyBytesFrom(config, { part: 0.4, requestPart: 0.75 });
  const held: Held = {};
  const response = { destroyed: false } as ServerResponse;
  const decrypting = { held, response, tenantId: 'a', decryption: undefined, ...reading };

  await decryptionBudgetOf(decrypting, { bodyBytes }).hold?.(20 * kibibyte);
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
  const bodyBytes = bodyBytesFrom(config, { part: 0.4, requestPart: 0.75 });
  const response = { destroyed: false } as ServerResponse;
  const decrypting = { held: {}, response, tenantId: 'a', decryption: undefined, ...reading };
  const ofCode = decryptionBudgetForCode(decrypting, { bodyBytes });
  await ofCode.hold?.(20 * kibibyte);
  expect(bodyBytes.held).toBe(40 * kibibyte);
  ofCode.leftBytes -= 1000;
  expect(decryptionBudgetOf(decrypting, { bodyBytes }).leftBytes).toBe(ofCode.leftBytes);
});
