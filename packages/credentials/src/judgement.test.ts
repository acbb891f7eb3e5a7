import { Judgement } from './judgement.ts';

function begin({ endsAt }: { endsAt?: string } = {}) {
  const state = { invalidations: 1, nowMs: 0, asked: 0 };
  const caches = {
    invalidations: () => state.invalidations,
    mayHaveCome: (momentMs: number) => momentMs <= state.nowMs,
  };
  const judgement = new Judgement(caches);
  judgement.endsAt(endsAt);
  const look = (during: () => unknown = () => undefined) =>
    judgement.look(() => {
      state.asked += 1;
      return during();
    });
  return { state, look };
}

test('asks nobody, and waits for nothing, where nothing has happened', () => {
  const { state, look } = begin();
  expect([look(), look(), state.asked]).toEqual([undefined, undefined, 0]);
});

test('asks once after an invalidation', async () => {
  const { state, look } = begin();
  state.invalidations += 1;
  await look();
  await look();
  expect(state.asked).toBe(1);
});

test('asks again after an invalidation during the look, because that one may have been overtaken', async () => {
  const { state, look } = begin();
  state.invalidations += 1;
  await look(async () => {
    if (state.asked === 1) state.invalidations += 1;
  });
  expect(state.asked).toBe(2);
});

test('asks at each look, once, while there is no lease, also where there was none at the beginning', async () => {
  const { state, look } = begin();
  state.invalidations = Number.NaN;
  await look();
  await look(async () => undefined);
  expect(state.asked).toBe(2);
  state.invalidations = 1;
  await look();
  expect(state.asked).toBe(3);
});

test('asks from the moment on at which something may have expired', async () => {
  const { state, look } = begin({ endsAt: new Date(1000).toISOString() });
  state.nowMs = 999;
  await look();
  expect(state.asked).toBe(0);
  state.nowMs = 1000;
  await look();
  expect(state.asked).toBe(1);
});

test('a refusal is passed on, and the next look asks again', async () => {
  const { state, look } = begin();
  state.invalidations += 1;
  const refused = async () => {
    throw new Error('revoked');
  };
  await expect(look(refused)).rejects.toThrow('revoked');
  await expect(look(refused)).rejects.toThrow('revoked');
});

test('without caches each look asks', async () => {
  let asked = 0;
  const judgement = new Judgement(undefined);
  for (let i = 0; i < 2; i++) await judgement.look(() => (asked += 1));
  expect(asked).toBe(2);
});
