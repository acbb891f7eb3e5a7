import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { slow } from '@sluice/testing';
import { ConsoleSecrets } from './secrets.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');
const mebibyte = 1024 * 1024;

/** Memory that stays taken by 20 values of 1 MiB, each of one text or of many, that were only given to `keep`. */
async function keptBytes(keep: (value: unknown) => void): Promise<number> {
  const memory = async () => {
    await nextTurn();
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await memory();
  for (let at = 0; at < 10; at += 1) {
    keep(JSON.parse(JSON.stringify({ text: `${at}${'x'.repeat(mebibyte)}` })));
    keep(JSON.parse(JSON.stringify(Array.from({ length: 100_000 }, (_, n) => `${at}-${n}`))));
  }
  return (await memory()) - before;
}

slow('3.9 s')('what was added is kept for the end of the invocation only as far as it can be looked for', async () => {
  const secrets = new ConsoleSecrets();
  expect(await keptBytes((value) => secrets.add(value))).toBeLessThan(mebibyte);
  expect([secrets.isTooMuch, secrets.texts()]).toEqual([true, undefined]);
});

slow('4 s')('the control: a list of the values keeps all of them', async () => {
  const values: unknown[] = [];
  expect(await keptBytes((value) => values.push(value))).toBeGreaterThan(20 * mebibyte);
  expect(values).toHaveLength(20);
});

test('texts and numbers are told once each, trimmed; beyond 8,192 characters none', () => {
  const secrets = new ConsoleSecrets();
  secrets.add(['small', { cvc: 123 }, 'small', ' spaced ', true, null]);
  expect([...(secrets.texts() ?? [])].sort()).toEqual(['123', 'small', 'spaced']);
  secrets.add('x'.repeat(8192));
  expect(secrets.texts()).toBeUndefined();
});
