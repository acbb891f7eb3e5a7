import { PassThrough } from 'node:stream';
import { bodyBytesFrom } from '@sluice/body-bytes';
import { bodyParts, DecoderMemory, decoderBytesOf } from './decoder-memory.ts';

const mebibyte = 2 ** 20;
const brotliBytes = 17 * mebibyte;

test('decoders of a Tenant take half of what its requests may hold, and those of others do not wait for them', async () => {
  const config = { BODY_HELD_BYTES: 256 * mebibyte, BODY_HELD_TENANT_BYTES: 128 * mebibyte, BODY_WAIT_MS: 60_000 };
  const bodyBytes = bodyBytesFrom(config, bodyParts);
  const decoderBytes = decoderBytesOf(bodyBytes, config.BODY_WAIT_MS);
  const open = (tenantId: string, bytes = brotliBytes) => {
    const caller = new PassThrough();
    const decoder = new DecoderMemory({ bodyBytes, decoderBytes }, { tenantId, direction: 'request', caller });
    return { caller, decoder, room: decoder.grow(bytes) };
  };
  const [first, second, third] = [open('a'), open('a'), open('a')];
  await Promise.all([first.room, second.room]);
  expect(decoderBytes.waiting).toBe(1);
  const others = [open('b'), open('b'), open('c'), open('a', 64 * 1024)];
  await Promise.all(others.map(({ room }) => room));
  const plain = bodyBytes.open({ tenantId: 'a', direction: 'request' });
  expect(plain.grow(10 * mebibyte)).toBeUndefined();
  first.decoder.release();
  await third.room;
  const gone = open('a');
  gone.caller.destroy();
  await expect(gone.room).rejects.toMatchObject({ code: 'bad_request' });
  plain.release();
  for (const { decoder } of [second, third, gone, ...others]) decoder.release();
  expect([bodyBytes.held, bodyBytes.waiting, decoderBytes.held, decoderBytes.waiting]).toEqual([0, 0, 0, 0]);
});
