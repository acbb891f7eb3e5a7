import { type EndTurn, FairTurns, type FairTurnsOptions } from './index.ts';

/** Notes whose turns begin, in order, and ends one when it is told to. */
function watch(options: FairTurnsOptions) {
  const turns = new FairTurns(options);
  const begun: string[] = [];
  const ends = new Map<string, EndTurn>();
  const refused: string[] = [];
  const begin = (name: string, end: EndTurn) => {
    begun.push(name);
    ends.set(name, end);
  };
  return {
    turns,
    begun,
    refused,
    take(name: string, key = name.charAt(0)) {
      const turn = turns.take(key);
      if (!(turn instanceof Promise)) return begin(name, turn);
      turn.then(
        (end) => begin(name, end),
        (error: Error) => refused.push(`${name}: ${error.message}`),
      );
    },
    /** Resolves when whoever got its turn has begun. */
    async end(...names: string[]) {
      for (const name of names) ends.get(name)?.();
      await new Promise(setImmediate);
    },
  };
}

const refusal = (key: string) => new Error(`too many of ${key}`);

test('a free turn is taken at once, without a promise', () => {
  const turns = new FairTurns({ atOnce: 2 });
  expect(turns.take('a')).not.toBeInstanceOf(Promise);
  expect(turns.take('a')).not.toBeInstanceOf(Promise);
  expect(turns.take('b')).toBeInstanceOf(Promise);
  expect(turns.state).toEqual({ running: 2, waiting: 1, mostOfOneKey: 2 });
});

test('one key never has more turns than its own limit, however many are free', async () => {
  const { take, end, begun, turns } = watch({ atOnce: 4, perKey: 2 });
  for (const name of ['a1', 'a2', 'a3', 'a4']) take(name);
  expect(begun).toEqual(['a1', 'a2']);
  take('b1'); // is not behind a3 and a4
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('a2');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  expect(turns.state).toEqual({ running: 3, waiting: 1, mostOfOneKey: 2 });
});

test('keys take turns, and the waiting of one key begin in order', async () => {
  const waves = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
  const order = async (keyOf?: string) => {
    const { take, end, begun } = watch({ atOnce: 1 });
    take('first', 'x');
    for (const name of waves) take(name, keyOf);
    for (const name of ['first', ...waves, ...waves]) await end(name);
    return begun.slice(1);
  };
  expect(await order()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  expect(await order('one key for all')).toEqual(waves); // the control: without keys, whoever came first goes first
});

test('a key that asks for its next turn only after its last one has half of the turns beside a key with many waiting', async () => {
  const { take, end, begun } = watch({ atOnce: 1 });
  for (let i = 1; i <= 9; i += 1) take(`a${i}`);
  take('b1');
  for (let over = 0; over < 8; over += 1) {
    const running = begun.at(-1) ?? '';
    await end(running);
    if (running.startsWith('b')) take(`b${over}`);
  }
  expect(begun.map((name) => name.charAt(0)).join('')).toBe('ababababa');
});

test('a key that waits for its own turns does not keep others from free ones', async () => {
  const { take, end, begun } = watch({ atOnce: 2, perKey: 1 });
  for (const name of ['a1', 'b1', 'a2', 'a3', 'c1']) take(name);
  await end('b1');
  expect(begun).toEqual(['a1', 'b1', 'c1']);
});

test('beyond the limit the last of the key with most waiting is refused, and nobody else', async () => {
  const { take, end, begun, refused } = watch({ atOnce: 1, waiting: { most: 3, refusal } });
  for (const name of ['a0', 'a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'd1']) take(name);
  for (const name of ['a0', 'b1', 'c1', 'a1', 'd1']) await end(name);
  expect(refused).toEqual(['a4: too many of a', 'a3: too many of a', 'a2: too many of a', 'd1: too many of d']);
  expect(begun).toEqual(['a0', 'b1', 'c1', 'a1']);
});

test('whoever leaves the queue gets no turn, and holds up nobody', async () => {
  const { take, end, begun, turns } = watch({ perKey: 1 });
  take('a1');
  let leave: (reason: unknown) => void = () => {};
  const left = turns.take('a', (leaves) => {
    leave = leaves;
  });
  take('a2');
  leave(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  await end('a1');
  expect(begun).toEqual(['a1', 'a2']);
  leave(new Error('again'));
  await end('a2');
  expect(turns.state).toEqual({ running: 0, waiting: 0, mostOfOneKey: 0 });
});

test('whoever has waited for too long is refused, and nobody after a turn has begun', async () => {
  const turns = new FairTurns({ atOnce: 1, waiting: { forMs: 1, refusal } });
  const end = turns.take('a') as EndTurn;
  await expect(turns.take('b')).rejects.toThrow('too many of b');
  const patient = turns.take('c');
  end();
  const last = await patient;
  expect(turns.state).toEqual({ running: 1, waiting: 0, mostOfOneKey: 1 });
  last();
});

test('a turn that began cannot be left any more, so that it is given back', async () => {
  const turns = new FairTurns({ perKey: 1 });
  const first = turns.take('a') as EndTurn;
  let leave: (reason: unknown) => void = () => {};
  const second = turns.take('a', (leaves) => {
    leave = leaves;
  });
  first();
  leave(new Error('late'));
  const end = await second;
  expect(turns.state.running).toBe(1);
  end();
  expect(turns.state.running).toBe(0);
});

test('a turn ends once, and also where its work fails', async () => {
  const turns = new FairTurns({ atOnce: 1 });
  const end = turns.take('a') as EndTurn;
  end();
  end();
  expect(turns.state.running).toBe(0);
  const failing = turns.run('a', async () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(turns.state).toEqual({ running: 0, waiting: 0, mostOfOneKey: 0 });
});

test('onWait is called only where a turn has to wait', async () => {
  const turns = new FairTurns({ atOnce: 1 });
  let waited = 0;
  const onWait = () => {
    waited += 1;
  };
  const end = turns.take('a', onWait) as EndTurn;
  expect(waited).toBe(0);
  const waiting = turns.run('a', async () => 'done', onWait);
  expect(waited).toBe(1);
  end();
  expect(await waiting).toBe('done');
});
