import { UsageError } from '@sluice/service-runtime/command-line';
import { call, startChaosProxy, startDestination } from '@sluice/testing';
import { runChaosCommand } from './commands.ts';

test('a person can type it', async () => {
  await using stack = new AsyncDisposableStack();
  const { url } = await startDestination(stack);
  const proxy = await startChaosProxy(url, stack);
  const ask = () => call(proxy.url, 'POST', '', { body: { a: 1 } }).then(({ status }) => status);
  await runChaosCommand('truncate 3 to-client', proxy);
  await expect(ask()).rejects.toThrow();
  await runChaosCommand('calm', proxy);
  expect(await ask()).toBe(200);
  for (const line of [
    'latency 1 2',
    'bandwidth 1000',
    'stall',
    'stall to-server',
    'cut',
    'refuse',
    'accept',
    'status',
  ]) {
    expect(await runChaosCommand(line, proxy)).toMatch(/^\d+ connections are open$/);
  }
  for (const line of ['latency', 'latency -1', 'latency x', 'bandwidth 0', 'stall up', 'truncate 1 down', 'blow up']) {
    await expect(runChaosCommand(line, proxy)).rejects.toBeInstanceOf(UsageError);
  }
});
