import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';

const mebibyte = 2 ** 20;
/** The default of BODY_HELD_BYTES for a process with a limit of 1 GiB, less than the shipped one. */
const heldBytes = Math.floor(0.4 * 1024 * mebibyte);
/** Everything else is the default, but for the wait, because how long 50 runs of the transform take is the machine's affair. */
const gateway = useStack((stack) =>
  startTestGateway(stack, { BODY_HELD_BYTES: `${heldBytes}`, BODY_WAIT_MS: '300000' }),
);
const inRoomForOne = useStack((stack) =>
  startTestGateway(stack, { BODY_HELD_BYTES: `${120 * mebibyte}`, BODY_WAIT_MS: '100' }),
);

const keep = 'module.exports = async () => ({})';

async function statusesOf({ tenant, destination, url }: typeof gateway.current): Promise<number[]> {
  const proxy = await tenant.proxy({ destination: destination.url, requireAuth: false, requestTransform: keep });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'Content-Type': 'application/json' };
  const body = JSON.stringify('x'.repeat(5 * mebibyte - 2));
  const send = async () => {
    const answer = await fetch(`${url}/proxy`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    return answer.status;
  };
  return Promise.all(Array.from({ length: 50 }, send));
}

test('50 honest bodies of 5 MiB of one Tenant at once all succeed with the shipped settings', async () => {
  expect(await statusesOf(gateway.current)).toEqual(Array(50).fill(200));
});

test('the control: where they get little room and no time to wait, some are refused', async () => {
  expect(await statusesOf(inRoomForOne.current)).toContain(503);
});
