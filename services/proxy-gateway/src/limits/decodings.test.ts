import { gzipSync } from 'node:zlib';
import { Decodings } from './decodings.ts';

const bomb = gzipSync('x'.repeat(2_000_000));
const small = gzipSync('small');
const limitBytes = 4_000_000;

test('the bodies of one Tenant are decoded one after another, and those of another Tenant do not wait for them', async () => {
  const decodings = new Decodings();
  const order: string[] = [];
  const decode = (tenantId: string, body: Buffer, name: string) =>
    decodings
      .of(tenantId)(body, ['gzip'], limitBytes)
      .then((decoded) => {
        order.push(name);
        return decoded.length;
      });
  const bombs = [1, 2, 3, 4, 5, 6].map((number) => decode('a', bomb, `bomb ${number}`));
  const last = decode('a', small, 'small after bombs');
  const sizes = await Promise.all([...bombs, last, decode('b', small, 'other')]);
  expect(sizes).toEqual([...Array(6).fill(2_000_000), 5, 5]);
  expect(order.filter((name) => name !== 'other')).toEqual([
    ...[1, 2, 3, 4, 5, 6].map((number) => `bomb ${number}`),
    'small after bombs',
  ]);
  expect(order.indexOf('other')).toBeLessThan(2);
});

test('a body that does not decode is refused, and the next one of its Tenant is decoded', async () => {
  const decode = new Decodings().of('a');
  const broken = decode(Buffer.from('no gzip'), ['gzip'], limitBytes);
  const next = decode(small, ['gzip'], limitBytes);
  await expect(broken).rejects.toMatchObject({ code: 'bad_request' });
  expect((await next).toString()).toBe('small');
});
