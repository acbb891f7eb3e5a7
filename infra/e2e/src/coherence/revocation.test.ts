import { runForTest } from '../run-for-test.ts';
import { runRevocation } from './run-revocation.ts';

jest.setTimeout(400_000);

test('1,000 regenerations under faults: no revoked key is accepted, the newest is never refused, and nothing fails while nothing is wrong', async () => {
  const { failures } = await runForTest('revocation', (context) =>
    runRevocation({ ...context, regenerations: 1000, quietMs: 8000, nemesisMs: 30_000, limitMs: 240_000 }),
  );
  expect(failures).toEqual([]);
});
