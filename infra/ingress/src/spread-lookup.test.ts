import { shuffle, spreadLookup } from './spread-lookup.ts';

const replicas = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((address) => ({ address, family: 4 }));

test('every replica comes first about as often as any other, and none is lost', () => {
  const first = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const shuffled = shuffle(replicas);
    expect(shuffled.map(({ address }) => address).toSorted()).toEqual(replicas.map(({ address }) => address));
    const address = shuffled[0]?.address ?? '';
    first.set(address, (first.get(address) ?? 0) + 1);
  }
  for (const { address } of replicas) expect(first.get(address)).toBeGreaterThan(800);
});

test('a name that is one address is that address, in both forms in which node asks', async () => {
  const ask = (all: boolean) =>
    new Promise((resolve, reject) => {
      spreadLookup('127.0.0.1', { all, family: 4 }, (error, address, family) =>
        error ? reject(error) : resolve([address, family]),
      );
    });
  expect(await ask(false)).toEqual(['127.0.0.1', 4]);
  expect(await ask(true)).toEqual([[{ address: '127.0.0.1', family: 4 }], undefined]);
});

test('a name that does not exist is an error', async () => {
  const failed = new Promise((_, reject) => spreadLookup('nowhere.invalid', { all: true }, (error) => reject(error)));
  await expect(failed).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
});
