import { eventually } from '@sluice/testing';
import { Readiness, serviceLogger } from './index.ts';
import { logMissing } from './log-missing.ts';

test('what is missing is said once for each change, and when nothing is any more', async () => {
  await using stack = new AsyncDisposableStack();
  const lines: { level: string; msg: string; missing?: object }[] = [];
  const log = serviceLogger(
    { service: 'test', level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const readiness = new Readiness();
  let reason: string | undefined = 'ECONNREFUSED: is it running?';
  let looks = 0;
  readiness.add('postgres', async () => {
    looks += 1;
    if (reason !== undefined) throw new Error(reason);
  });
  readiness.state = 'running';
  logMissing(readiness, { log, stack });
  await eventually('two looks', () => looks >= 2);
  expect(readiness.wasReady).toBe(false);
  reason = 'it is not migrated';
  await eventually('another line', () => lines.length === 2);
  reason = undefined;
  await eventually('ready', () => readiness.wasReady && lines.length === 3);
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    ['warn', 'not ready; waiting for postgres (ECONNREFUSED: is it running?)'],
    ['warn', 'not ready; waiting for postgres (it is not migrated)'],
    ['info', 'ready'],
  ]);
  expect(lines[0]?.missing).toEqual({ postgres: 'ECONNREFUSED: is it running?' });
});

test('a stop is silent', async () => {
  const stack = new AsyncDisposableStack();
  const lines: string[] = [];
  const log = serviceLogger({ service: 'test', level: 'info' }, { write: (line: string) => void lines.push(line) });
  const readiness = new Readiness();
  const { promise, reject } = Promise.withResolvers<void>();
  readiness.add('postgres', () => promise);
  readiness.state = 'running';
  logMissing(readiness, { log, stack });
  await stack.disposeAsync();
  reject(new Error('closed'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(lines).toEqual([]);
});
