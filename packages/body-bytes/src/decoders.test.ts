import { PassThrough } from 'node:stream';
import { bodyBytesOf } from './body-bytes.ts';

const mebibyte = 2 ** 20;
const brotliBytes = 17 * mebibyte;

function openBytes() {
  const bytes = { processBytes: 256 * mebibyte, tenantBytes: 128 * mebibyte };
  const bodyBytes = bodyBytesOf({ ...bytes, requestPart: 0.75, waitMs: 60_000 });
  const open = (tenantId: string, size = brotliBytes) => {
    const caller = new PassThrough();
    const memory = bodyBytes.open({ tenantId, caller });
    return { caller, memory, room: memory.part('decoder').grow(size) };
  };
  return { bodyBytes, open };
}

test('decoders of a Tenant take half of what its requests may hold, and those of others do not wait for them', async () => {
  const { bodyBytes, open } = openBytes();
  const [first, second, third] = [open('a'), open('a'), open('a')];
  await Promise.all([first.room, second.room]);
  expect(bodyBytes.waiting).toBe(1);
  const others = [open('b'), open('b'), open('c'), open('a', 64 * 1024)];
  await Promise.all(others.map(({ room }) => room));
  const plain = bodyBytes.open({ tenantId: 'a' });
  expect(plain.part('request').grow(10 * mebibyte)).toBeUndefined();
  first.memory.release();
  await third.room;
  const gone = open('a');
  gone.caller.destroy();
  await expect(gone.room).rejects.toMatchObject({ code: 'bad_request' });
  for (const memory of [plain, ...[second, third, gone, ...others].map(({ memory }) => memory)]) memory.release();
  expect([bodyBytes.held, bodyBytes.waiting]).toEqual([0, 0]);
});

test('a decoder that is admitted waits for memory among the requests, and one behind it is admitted when it leaves', async () => {
  const { bodyBytes, open } = openBytes();
  const full = bodyBytes.open({ tenantId: 'a' });
  expect(full.part('request').grow(90 * mebibyte)).toBeUndefined();
  const [first, second, third] = [open('a'), open('a'), open('a')];
  const small = bodyBytes.open({ tenantId: 'a' }).part('request');
  expect(small.grow(mebibyte)).toBeDefined();
  expect(bodyBytes.waiting).toBe(4);
  first.caller.destroy();
  await expect(first.room).rejects.toMatchObject({ code: 'bad_request' });
  full.release();
  await Promise.all([second.room, third.room]);
  for (const { memory } of [first, second, third]) memory.release();
  small.release();
  expect([bodyBytes.held, bodyBytes.waiting]).toEqual([0, 0]);
});

test('a reservation that was released opens no part that could grow', async () => {
  const { bodyBytes } = openBytes();
  const memory = bodyBytes.open({ tenantId: 'a' });
  expect(memory.part('request').grow(100)).toBeUndefined();
  memory.release();
  for (const name of ['request', 'answer'] as const) {
    await expect(memory.part(name).grow(100)).rejects.toMatchObject({ code: 'bad_request' });
  }
  expect(bodyBytes.held).toBe(0);
});

test('a part that was released alone begins anew, with its whole time to wait', () => {
  const { bodyBytes } = openBytes();
  const memory = bodyBytes.open({ tenantId: 'a' });
  const window = memory.part('window');
  expect(window.grow(100)).toBeUndefined();
  window.release();
  expect(memory.part('window').grow(50)).toBeUndefined();
  expect(bodyBytes.held).toBe(50);
  memory.release();
  expect(bodyBytes.held).toBe(0);
});
