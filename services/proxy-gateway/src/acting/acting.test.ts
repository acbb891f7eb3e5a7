import type { ServerResponse } from 'node:http';
import { bodyBytesFrom } from '@sluice/body-bytes';
import { Judgement } from '@sluice/credentials';
import { partOf } from '@sluice/vault';
import { Acting, type Selection } from './acting.ts';

const kibibyte = 1024;

function openActing() {
  const config = { BODY_HELD_BYTES: 1024 * kibibyte, BODY_HELD_TENANT_BYTES: 1024 * kibibyte, BODY_WAIT_MS: 100 };
  const bodyBytes = bodyBytesFrom(config, { part: 0.4, requestPart: 0.75 });
  const response = { destroyed: false } as ServerResponse;
  const memory = bodyBytes.open({ tenantId: 'a', caller: response });
  const begin = {
    owner: { id: 'p', tenantId: 'a' },
    memory,
    judgement: new Judgement(undefined),
    traceId: 't',
    response,
  };
  return { bodyBytes, acting: new Acting({} as Selection<{ id: string; tenantId: string }>, begin) };
}

test('token data decrypted for a streamed body keeps no room free for a transform that does not run', async () => {
  const { bodyBytes, acting } = openActing();
  await acting.hold(20 * kibibyte);
  expect(bodyBytes.held).toBe(20 * kibibyte);
  const neighbour = bodyBytes.open({ tenantId: 'b' });
  expect(neighbour.part('request').grow(600 * kibibyte)).toBeUndefined();
  neighbour.release();
  acting.memory.release();
  expect(bodyBytes.held).toBe(0);
});

test('what code opens is reserved twice, and takes from the same limit', async () => {
  const { bodyBytes, acting } = openActing();
  const ofCode = partOf(acting, 2);
  await ofCode.hold(20 * kibibyte);
  expect(bodyBytes.held).toBe(40 * kibibyte);
  ofCode.leftBytes -= 1000;
  expect(acting.leftBytes).toBe(ofCode.leftBytes);
});
