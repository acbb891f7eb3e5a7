import { eventually } from '@sluice/testing';
import { type BodyBytes, createBodyBytes, type Reservation } from './body-bytes.ts';

const open = (options: { processBytes: number; tenantBytes: number; waitMs?: number }) =>
  createBodyBytes({ waitMs: 60_000, ...options });

/** Notes in `order` when each reservation is granted. */
function reserveAll(bytes: BodyBytes, wanted: [tenant: string, bytes: number][], order: string[]): Reservation[] {
  return wanted.map(([tenant, size], at) => {
    const reservation = bytes.reserve(tenant, size, 'request');
    if (!reservation.granted) order.push(`${tenant}${at}`);
    reservation.granted?.then(
      () => order.push(`${tenant}${at}`),
      () => order.push(`${tenant}${at} refused`),
    );
    return reservation;
  });
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a Tenant holds no more than its part; another one is served at once', async () => {
  const bytes = open({ processBytes: 4000, tenantBytes: 2000 });
  const order: string[] = [];
  const [first] = reserveAll(
    bytes,
    [
      ['a', 1000],
      ['a', 1000],
      ['b', 1000],
    ],
    order,
  );
  await settled();
  expect(order).toEqual(['a0', 'b2']);
  first?.release();
  await settled();
  expect(order).toEqual(['a0', 'b2', 'a1']);
});

test('what waits for room in the process is served in turn among Tenants, in order within one', async () => {
  const bytes = open({ processBytes: 2000, tenantBytes: 2000 });
  const order: string[] = [];
  const held = reserveAll(
    bytes,
    [
      ['a', 1500],
      ['a', 1500],
      ['a', 1500],
      ['b', 1500],
      ['c', 1500],
    ],
    order,
  );
  while (order.length < held.length) {
    const last = order.at(-1) ?? '';
    held[Number(last.slice(1))]?.release();
    await settled();
  }
  expect([...order].sort()).toEqual(['a0', 'a1', 'a2', 'b3', 'c4']);
  expect(order.indexOf('b3')).toBeLessThan(order.indexOf('a2'));
  expect(order.indexOf('c4')).toBeLessThan(order.indexOf('a2'));
  expect(order.indexOf('a1')).toBeLessThan(order.indexOf('a2'));
});

test('small bodies do not overtake a large one for ever', async () => {
  const bytes = open({ processBytes: 2000, tenantBytes: 2000 });
  const order: string[] = [];
  const held = reserveAll(
    bytes,
    [
      ['a', 500],
      ['b', 1500],
      ['c', 500],
    ],
    order,
  );
  await settled();
  expect(order).toEqual(['a0']);
  held[0]?.release();
  await settled();
  expect(order).toEqual(['a0', 'b1']);
});

test('there is always room for an answer to what requests hold', () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000 });
  expect(bytes.reserve('a', 750, 'request').granted).toBeUndefined();
  expect(bytes.reserve('a', 10, 'request').granted).toBeDefined();
});

test('answers pass by the requests of their Tenant that wait', async () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000 });
  bytes.reserve('a', 750, 'request');
  const request = bytes.reserve('a', 100, 'request');
  const answer = bytes.reserve('a', 250, 'answer');
  await answer.granted;
  expect(bytes.waiting).toBe(1);
  answer.release();
  request.granted?.catch(() => {});
  request.release();
  expect(bytes.waiting).toBe(0);
});

test('one body alone is served, however large', () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 500 });
  expect(bytes.reserve('a', 10_000, 'request').granted).toBeUndefined();
});

test('what gives up waiting, shrinks or ends leaves nothing behind', async () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000, waitMs: 1 });
  const first = bytes.reserve('a', 600, 'request');
  const late = bytes.reserve('a', 600, 'request');
  await expect(late.granted).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  late.release();
  expect(bytes.refusals).toBe(1);
  first.shrinkTo(100);
  expect(bytes.held).toBe(100);
  first.release();
  first.release();
  expect([bytes.held, bytes.waiting]).toEqual([0, 0]);
});

test('a refusal that nobody waits for does not end the process', async () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000, waitMs: 1 });
  bytes.reserve('a', 600, 'request');
  const unheard: unknown[] = [];
  const note = (reason: unknown) => unheard.push(reason);
  process.on('unhandledRejection', note);
  bytes.reserve('a', 600, 'request');
  await eventually('the refusal', () => bytes.refusals === 1);
  await settled();
  process.off('unhandledRejection', note);
  expect(unheard).toEqual([]);
});
