import { Registry } from 'prom-client';
import { raiseIntegrityAlarms } from './integrity-alarm.ts';
import { IntegrityError } from './integrity-error.ts';

test('each failure is logged and counted, until the service closes', async () => {
  const stack = new AsyncDisposableStack();
  const metrics = new Registry();
  const logged: unknown[] = [];
  raiseIntegrityAlarms({ log: { error: ({ err }) => void logged.push(err) }, metrics, stack });
  const error = new IntegrityError('tokens.data of a-token does not open');
  expect(logged).toEqual([error]);
  expect(await metrics.metrics()).toContain('sluice_integrity_failures_total 1');
  await stack.disposeAsync();
  new IntegrityError('another');
  expect(logged).toHaveLength(1);
});
