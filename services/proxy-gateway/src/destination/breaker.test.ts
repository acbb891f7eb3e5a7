import { createBreaker } from './breaker.ts';

function breakerAt(start = 0) {
  const clock = { now: start };
  return { clock, breaker: createBreaker({ failures: 3, openMs: 1000, now: () => clock.now }) };
}

function fail(breaker: ReturnType<typeof createBreaker>, times: number): void {
  for (let i = 0; i < times; i++) breaker.onConnectFailed();
}

test('it opens after that many failures in a row, and not before', () => {
  const { breaker } = breakerAt();
  fail(breaker, 2);
  expect([breaker.waitMs(), breaker.isOpen]).toEqual([0, false]);
  fail(breaker, 1);
  expect([breaker.waitMs(), breaker.isOpen]).toEqual([1000, true]);
});

test('a connection between failures starts the count again', () => {
  const { breaker } = breakerAt();
  fail(breaker, 2);
  breaker.onConnected();
  fail(breaker, 2);
  expect(breaker.isOpen).toBe(false);
});

test('it says how long it is still open', () => {
  const { breaker, clock } = breakerAt(5000);
  fail(breaker, 3);
  clock.now = 5400;
  expect(breaker.waitMs()).toBe(600);
});

test('after that time one call tries, and the others wait for what it finds', () => {
  const { breaker, clock } = breakerAt();
  fail(breaker, 3);
  clock.now = 1000;
  expect([breaker.waitMs(), breaker.waitMs(), breaker.waitMs()]).toEqual([0, 1000, 1000]);
});

test('the try that connects closes it', () => {
  const { breaker, clock } = breakerAt();
  fail(breaker, 3);
  clock.now = 1000;
  breaker.waitMs();
  breaker.onConnected();
  expect([breaker.waitMs(), breaker.waitMs(), breaker.isOpen]).toEqual([0, 0, false]);
});

test('the try that fails opens it for as long again', () => {
  const { breaker, clock } = breakerAt();
  fail(breaker, 3);
  clock.now = 1500;
  breaker.waitMs();
  clock.now = 1700;
  breaker.onConnectFailed();
  expect(breaker.waitMs()).toBe(1000);
});

test('a try that never says anything does not keep it open for ever', () => {
  const { breaker, clock } = breakerAt();
  fail(breaker, 3);
  clock.now = 1000;
  breaker.waitMs();
  clock.now = 2000;
  expect(breaker.waitMs()).toBe(0);
});

test('0 failures switch it off', () => {
  const breaker = createBreaker({ failures: 0, openMs: 1000 });
  fail(breaker, 1000);
  expect([breaker.waitMs(), breaker.isOpen]).toEqual([0, false]);
});
