import { openBodyBytes } from '@sluice/body-bytes';
import { bodyParts, openDecoderBytes } from './decoder-bytes.ts';
import { HeldDecoder } from './held-decoder.ts';

const mebibyte = 2 ** 20;
const brotliBytes = 17 * mebibyte;

test('decoders of a Tenant take half of what its requests may hold, and those of others do not wait for them', async () => {
  const config = { BODY_HELD_BYTES: 256 * mebibyte, BODY_HELD_TENANT_BYTES: 128 * mebibyte, BODY_WAIT_MS: 60_000 };
  const bodyBytes = openBodyBytes(config, bodyParts);
  const decoderBytes = openDecoderBytes(bodyBytes, config.BODY_WAIT_MS);
  const open = (tenant: string, bytes = brotliBytes) => {
    const decoder = new HeldDecoder(decoderBytes.open(tenant, 'request', 0), bodyBytes.open(tenant, 'request', 0));
    return { decoder, room: decoder.open(bytes) };
  };
  const [first, second, third] = [open('a'), open('a'), open('a')];
  expect([first.room, second.room]).toEqual([undefined, undefined]);
  expect(third.room).toBeDefined();
  const others = [open('b'), open('b'), open('c'), open('a', 64 * 1024)];
  expect(others.map(({ room }) => room)).toEqual(others.map(() => undefined));
  const plain = bodyBytes.open('a', 'request', 10 * mebibyte);
  expect(plain.growTo(10 * mebibyte)).toBeUndefined();
  first.decoder.release();
  await third.room;
  const gone = open('a');
  gone.decoder.stopWaiting();
  await expect(gone.room).rejects.toMatchObject({ code: 'bad_request' });
  plain.release();
  for (const { decoder } of [second, third, gone, ...others]) decoder.release();
  expect([bodyBytes.held, bodyBytes.waiting, decoderBytes.held, decoderBytes.waiting]).toEqual([0, 0, 0, 0]);
});
