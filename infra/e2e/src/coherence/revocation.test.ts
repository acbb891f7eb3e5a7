import { failuresOfRun } from '../faults/fault-test.ts';
import { revocation } from '../faults/revocation.fault.ts';

test('1,000 regenerations under faults: no revoked key is accepted, the newest is never refused, and nothing fails while nothing is wrong', async () => {
  const test = revocation({ regenerations: 1000, quietMs: 8000, nemesisMs: 30_000, limitMs: 600_000 });
  expect(await failuresOfRun(test)).toEqual([]);
});
