import { EventEmitter } from 'node:events';
import { eventually } from '@sluice/testing';
import { type BodyBytes, bodyBytesOf } from './body-bytes.ts';
import { growAsItArrives } from './grow-as-it-arrives.ts';
import type { MemoryPart } from './memory-part.ts';
import type { BodyDirection } from './room.ts';

const open = (options: { processBytes: number; tenantBytes: number; waitMs?: number }) =>
  bodyBytesOf({ waitMs: 60_000, requestPart: 0.75, ...options });

function reserveAll(bytes: BodyBytes, wanted: [tenant: string, bytes: number][], order: string[]): MemoryPart[] {
  return wanted.map(([tenant, size], at) => {
    const part = bytes.open({ tenantId: tenant }).part('request', size);
    opened.push(part);
    const room = part.grow(size);
    if (!room) order.push(`${tenant}${at}`);
    room?.then(
      () => order.push(`${tenant}${at}`),
      () => order.push(`${tenant}${at} refused`),
    );
    return part;
  });
}

const opened: MemoryPart[] = [];
afterEach(() => {
  for (const part of opened.splice(0)) part.release();
});

function take(bytes: BodyBytes, tenantId: string, size: number, direction: BodyDirection = 'request') {
  const caller = new TestCaller();
  const part = bytes.open({ tenantId, caller }).part(direction, size);
  opened.push(part);
  return { part, caller, room: part.grow(size) };
}

class TestCaller extends EventEmitter {
  destroyed = false;

  leave(): void {
    this.destroyed = true;
    this.emit('close');
  }
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

test('what waits for room in the process is passed by whoever finds some, so hostile Tenants hold up nobody', async () => {
  const bytes = open({ processBytes: 4000, tenantBytes: 2000 });
  const order: string[] = [];
  const flood: [string, number][] = ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'].map((tenant) => [tenant, 400]);
  reserveAll(bytes, flood, order);
  expect(bytes.waiting).toBeGreaterThan(0);
  expect(take(bytes, 'd', 16).room).toBeUndefined();
  expect(take(bytes, 'e', 16, 'answer').room).toBeUndefined();
});

test('the control: Tenants that share nothing by turns leave nothing for the next', () => {
  // Where one Tenant may have the whole process, nothing is kept for others.
  const bytes = open({ processBytes: 4000, tenantBytes: 4000 });
  const flood: [string, number][] = ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'].map((tenant) => [tenant, 400]);
  reserveAll(bytes, flood, []);
  expect(take(bytes, 'd', 400).room).toBeDefined();
});

test('bodies that grow while they come never wait for each other: the eldest has its room', async () => {
  const bytes = open({ processBytes: 2000, tenantBytes: 1000 });
  const done: number[] = [];
  const grow = async (at: number) => {
    const part = bytes.open({ tenantId: 'ab'[at % 2] ?? '' }).part('request', 300);
    for (let size = 10; size <= 300; size += 10) {
      await part.grow(10);
      await settled();
    }
    done.push(at);
    part.release();
  };
  await Promise.all(Array.from({ length: 40 }, (_, at) => grow(at)));
  expect(done).toHaveLength(40);
  expect(bytes.held).toBe(0);
});

test('small bodies do not overtake a large one for ever', async () => {
  const bytes = open({ processBytes: 2000, tenantBytes: 1000 });
  const order: string[] = [];
  const held = reserveAll(
    bytes,
    [
      ['a', 600],
      ['b', 700],
    ],
    order,
  );
  expect(order).toEqual(['a0']);
  // Room is kept for the eldest that waits, because small bodies could otherwise take it for ever.
  const small: MemoryPart[] = [];
  for (let at = 0; at < 100; at += 1) {
    const { part, room } = take(bytes, `c${at}`, 50);
    if (room) part.release();
    else small.push(part);
  }
  expect(small.length).toBeLessThan(20);
  held[0]?.release();
  await settled();
  expect(order).toEqual(['a0', 'b1']);
});

test('there is always room for an answer to what requests hold', () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000 });
  expect(take(bytes, 'a', 750).room).toBeUndefined();
  expect(take(bytes, 'a', 10).room).toBeDefined();
  expect(take(bytes, 'a', 250, 'answer').room).toBeUndefined();
});

test('answers pass by the requests of their Tenant that wait', async () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000 });
  const first = take(bytes, 'a', 750);
  const held = take(bytes, 'a', 250, 'answer');
  const request = take(bytes, 'a', 750);
  const answer = take(bytes, 'a', 200, 'answer');
  expect(bytes.waiting).toBe(2);
  held.part.release();
  await answer.room;
  expect(bytes.waiting).toBe(1);
  first.part.release();
  await request.room;
});

test('one body alone is served, however large', () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 500 });
  expect(take(bytes, 'a', 10_000).room).toBeUndefined();
  expect(take(bytes, 'a', 10_000, 'answer').room).toBeUndefined();
});

test('what gives up waiting, shrinks or ends leaves nothing behind', async () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000, waitMs: 1 });
  const first = take(bytes, 'a', 600);
  const late = take(bytes, 'a', 600);
  await expect(late.room).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  late.part.release();
  expect(bytes.refusals).toBe(1);
  first.part.shrinkTo(100);
  expect(bytes.held).toBe(100);
  first.part.release();
  first.part.release();
  expect([bytes.held, bytes.waiting]).toEqual([0, 0]);
});

test('who has left waits no more, and keeps what is there until it is over', async () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000 });
  const first = take(bytes, 'a', 600);
  const gone = take(bytes, 'a', 600);
  gone.caller.leave();
  await expect(gone.room).rejects.toMatchObject({ code: 'bad_request' });
  const other = take(bytes, 'a', 100);
  first.caller.leave();
  await expect(first.part.grow(100)).rejects.toMatchObject({ code: 'bad_request' });
  other.part.release();
  expect(first.part.grow(100)).toBeUndefined();
  expect([bytes.held, bytes.waiting]).toEqual([700, 0]);
});

test('what is over is followed no more, however long its connection lives', async () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000 });
  const first = take(bytes, 'a', 600);
  const waiting = take(bytes, 'a', 600);
  expect(waiting.caller.listenerCount('close')).toBe(1);
  first.part.release();
  await waiting.room;
  waiting.part.release();
  expect([first.caller, waiting.caller].map((caller) => caller.listenerCount('close'))).toEqual([0, 0]);
});

describe('a part of one who has left', () => {
  test('does nothing once it is released', async () => {
    const bytes = open({ processBytes: 2000, tenantBytes: 1000 });
    const { part } = take(bytes, 'a', 740);
    part.release();
    part.shrinkTo(0);
    await expect(part.grow(740)).rejects.toMatchObject({ code: 'bad_request' });
    await expect(part.grow(740)).rejects.toMatchObject({ code: 'bad_request' });
    expect([part.bytes, bytes.held]).toEqual([0, 0]);
    const order: string[] = [];
    const held = reserveAll(
      bytes,
      Array.from('abcdef', (tenant) => [tenant, 740]),
      order,
    );
    for (let served = 0; served < held.length; served += 1) {
      await settled();
      held[Number(order[served]?.slice(1))]?.release();
    }
    expect([...order].sort()).toEqual(['a0', 'b1', 'c2', 'd3', 'e4', 'f5']);
  });

  test('keeps no room free that it will not take', async () => {
    const bytes = open({ processBytes: 1000, tenantBytes: 1000 });
    const { part, caller } = take(bytes, 'a', 100);
    part.shrinkTo(100, 700);
    const next = take(bytes, 'a', 600);
    caller.leave();
    part.shrinkTo(50, 700);
    expect(next.room).toBeDefined();
    await settled();
    expect([bytes.held, bytes.waiting]).toEqual([650, 0]);
  });
});

test('a refusal that nobody waits for does not end the process', async () => {
  const bytes = open({ processBytes: 1000, tenantBytes: 1000, waitMs: 1 });
  take(bytes, 'a', 600);
  const unheard: unknown[] = [];
  const note = (reason: unknown) => unheard.push(reason);
  process.on('unhandledRejection', note);
  take(bytes, 'a', 600);
  await eventually('the refusal', () => bytes.refusals === 1);
  await settled();
  process.off('unhandledRejection', note);
  expect(unheard).toEqual([]);
});

describe('several growths of one part, as of parallel calls of a transform', () => {
  function openFull() {
    const bytes = open({ processBytes: 4000, tenantBytes: 4000 });
    const full = take(bytes, 'b', 2000);
    expect(full.room).toBeUndefined();
    const grown = bytes.open({ tenantId: 'a' }).part('request', 100);
    opened.push(grown);
    expect(grown.grow(100)).toBeUndefined();
    const growths = [grown.grow(1500), grown.grow(500)];
    const ends = Promise.all(
      growths.map((growth) =>
        Promise.resolve(growth).then(
          () => 'grown',
          () => 'refused',
        ),
      ),
    );
    return { bytes, grown, full, ends };
  }

  test('begin one after another, and all are counted', async () => {
    const { bytes, grown, full, ends } = openFull();
    expect(bytes.waiting).toBe(1);
    full.part.release();
    expect(await ends).toEqual(['grown', 'grown']);
    expect([grown.bytes, bytes.held, bytes.waiting]).toEqual([2100, 2100, 0]);
  });

  test('end together when the caller leaves, and nothing stays held', async () => {
    const { bytes, grown, full, ends } = openFull();
    grown.release();
    expect(await ends).toEqual(['refused', 'refused']);
    full.part.release();
    await settled();
    expect([bytes.held, bytes.waiting]).toEqual([0, 0]);
  });
});

describe('a body that arrives', () => {
  const kibibyte = 1024;

  function receive(pieces: number[], { mostLength = 5120 * kibibyte, copies = 2 } = {}) {
    const bytes = open({ processBytes: 64 * 1024 * kibibyte, tenantBytes: 64 * 1024 * kibibyte });
    const part = bytes.open({ tenantId: 'a' }).part('request', copies * mostLength);
    opened.push(part);
    const held: number[] = [];
    let arrived = 0;
    for (const piece of [0, ...pieces]) {
      arrived += piece;
      expect(growAsItArrives(part, arrived, { copies, mostLength })).toBeUndefined();
      expect(bytes.held).toBeGreaterThanOrEqual(copies * Math.min(arrived + 64 * kibibyte, mostLength));
      held.push(part.bytes / kibibyte);
    }
    return [...new Set(held)];
  }

  test('doubles what it holds, always before a piece is read, and holds no more than its length allows', () => {
    expect(receive(Array(80).fill(64 * kibibyte))).toEqual([128, 256, 512, 1024, 2048, 4096, 8192, 10_240]);
  });

  test('holds little as long as it does not come', () => {
    expect(receive([1, 1, 1])).toEqual([128, 256]);
  });

  test('of a known small length holds that alone', () => {
    expect(receive([500, 500], { mostLength: 1000, copies: 4 })).toEqual([4000 / kibibyte]);
  });
});

test('a body for which more is left than was ever reserved keeps no memory free', async () => {
  const bytes = open({ processBytes: 4000, tenantBytes: 4000 });
  const { part } = take(bytes, 'a', 500);
  part.shrinkTo(2500);
  const { room } = take(bytes, 'b', 2000);
  expect(room).toBeUndefined();
  expect(bytes.held).toBe(2500);
});
