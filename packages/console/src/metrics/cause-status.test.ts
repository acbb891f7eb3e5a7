import { errorCodes } from '@sluice/problems';
import { statusOf } from './cause-status.ts';

/** Answers of the management API, which no invocation ends with. */
const neverOfInvocations = ['precondition_failed', 'transform_does_not_compile', 'code_does_not_compile'];

test('each error code has the status that the services answer', () => {
  for (const [code, { status }] of Object.entries(errorCodes)) {
    if (!neverOfInvocations.includes(code)) expect([code, statusOf(code)]).toEqual([code, `${status}`]);
  }
  expect(statusOf('caller_gone')).toBeUndefined();
});
