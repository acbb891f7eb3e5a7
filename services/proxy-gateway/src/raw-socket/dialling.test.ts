import net from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { type DestinationPolicy, destinationPolicy } from '@sluice/destination-policy';
import { okAnswer, type ScriptedDestination, startScripted } from '@sluice/testing/raw';
import { type DestinationRequest, forward, streamThrough } from '../destination/index.ts';
import { closeAll, open, outcomeOf } from '../testing/destination-servers.ts';

let destination: ScriptedDestination;
beforeEach(async () => {
  destination = await startScripted({ onRequest: (socket) => socket.write(okAnswer('reached')) });
});
afterEach(async () => {
  await closeAll();
  await destination.close();
});

/** Each look-up of any name takes the next list of answers; the last list stays. */
function policyWith(answers: string[][], rules: { allow?: string[]; deny?: string[] }) {
  let lookups = 0;
  const policy = destinationPolicy({
    schemes: ['http'],
    allow: rules.allow ?? [],
    deny: rules.deny ?? [],
    resolve(_hostname, _options, callback) {
      const list = answers[Math.min(lookups++, answers.length - 1)] ?? [];
      callback(
        null,
        list.map((address) => ({ address, family: net.isIP(address) })),
      );
    },
  });
  return { policy, lookups: () => lookups };
}

function requestTo(host: string, change: Partial<DestinationRequest> = {}): DestinationRequest {
  const origin = `http://${host}:${new URL(destination.url).port}`;
  return { tenantId: 'tenant-1', origin, path: '/', method: 'GET', headers: [], body: undefined, ...change };
}

/** That a connection is free again, or gone. On a busy machine a timer alone can be the next that happens. */
async function connectionsAreKnown(): Promise<void> {
  await wait(10);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
}

describe.each([
  ['held', forward],
  ['streamed', streamThrough],
])('%s', (_, send: typeof forward) => {
  async function call(policy: DestinationPolicy, host = 'name.example', destinations = open({ policy })) {
    const { status, error } = await outcomeOf((sink) => send(requestTo(host), destinations, sink));
    await connectionsAreKnown();
    return status ?? (error?.cause as { code?: string } | undefined)?.code;
  }

  const answers: [allow: string[], deny: string[], answers: string[], isDialled: boolean][] = [
    [['127.0.0.1'], [], ['127.0.0.1'], true],
    [['127.0.0.1'], [], ['127.0.0.2'], false],
    [['127.0.0.1'], [], ['127.0.0.1', '127.0.0.2'], false],
    [['127.0.0.1'], [], ['127.0.0.2', '127.0.0.1'], false],
    [['127.0.0.1'], [], ['127.0.0.1', '::1'], false],
    [['127.0.0.1'], [], ['127.0.0.1', '10.0.0.1'], false],
    [['127.0.0.1'], [], ['127.0.0.1', '169.254.169.254'], false],
    [['127.0.0.1'], [], ['127.0.0.1', '::ffff:127.0.0.1'], false],
    [['127.0.0.1'], [], ['::ffff:127.0.0.1'], false],
    [['127.0.0.1'], [], ['127.0.0.1', '64:ff9b::a9fe:a9fe'], false],
    [['127.0.0.1'], [], ['127.0.0.1', '0.0.0.0'], false],
    [[], [], ['0.0.0.0'], false],
    [[], [], ['::'], false],
    [[], [], ['127.0.0.1'], false],
    [['loopback'], [], ['127.0.0.1', '::1'], true],
    [['loopback'], ['::1'], ['127.0.0.1', '::1'], false],
    [['loopback'], ['127.0.0.1'], ['127.0.0.1'], false],
    [['name.example'], [], ['127.0.0.1', '::1'], true],
    [['name.example'], ['loopback'], ['127.0.0.1'], false],
    [['name.example'], [], ['127.0.0.1', '169.254.169.254'], false],
    [['*.example'], ['name.example'], ['127.0.0.1'], false],
    [['0.0.0.0/0', '::/0'], [], ['127.0.0.1'], true],
    [['0.0.0.0/0', '::/0'], [], ['127.0.0.1', 'fd00:ec2::254'], false],
  ];

  test.each(answers)('allow %j, deny %j, answers %j: dialled %s', async (allow, deny, list, isDialled) => {
    const outcome = await call(policyWith([list], { allow, deny }).policy);
    expect(outcome).toBe(isDialled ? 200 : 'EDESTINATIONDENIED');
    expect(destination.sockets.length).toBe(isDialled ? 1 : 0);
  });

  test.each([
    [['127.0.0.1'], ['127.0.0.2']],
    [['127.0.0.1'], ['169.254.169.254']],
    [['127.0.0.1'], ['127.0.0.1', '10.0.0.1']],
  ])(
    'a name that answers %j, then %j, is resolved once for a connection, and refused for the next',
    async (...lists) => {
      const { policy, lookups } = policyWith(lists, { allow: ['127.0.0.1'] });
      const destinations = open({ policy });
      expect(await call(policy, 'name.example', destinations)).toBe(200);
      expect(lookups()).toBe(1);
      for (const socket of destination.sockets) socket.destroy();
      await connectionsAreKnown();
      expect(await call(policy, 'name.example', destinations)).toBe('EDESTINATIONDENIED');
      expect(lookups()).toBe(2);
      expect(destination.sockets.length).toBe(1);
    },
  );

  test('the control: without the second look at the answer, that name is dialled again', async () => {
    const { policy } = policyWith([['127.0.0.1'], ['127.0.0.1']], { allow: ['127.0.0.1'] });
    const destinations = open({ policy });
    await call(policy, 'name.example', destinations);
    for (const socket of destination.sockets) socket.destroy();
    await connectionsAreKnown();
    expect(await call(policy, 'name.example', destinations)).toBe(200);
    expect(destination.sockets.length).toBe(2);
  });

  test('after a change of the policy no connection from before is used', async () => {
    const before = policyWith([['127.0.0.1']], { allow: ['loopback'] }).policy;
    const kept = open({ policy: before });
    expect(await call(before, 'name.example', kept)).toBe(200);
    const after = policyWith([['127.0.0.1']], { allow: ['loopback'], deny: ['127.0.0.1'] }).policy;
    expect(await call(after)).toBe('EDESTINATIONDENIED');
    expect(destination.sockets.map(({ destroyed }) => destroyed)).toEqual([false]);
    expect(destination.seen()).toHaveLength(1);
    expect(await call(before, 'name.example', kept)).toBe(200);
    expect(destination.sockets.length).toBe(1);
  });

  test('Tenants, names and ways to write a host have connections of their own', async () => {
    const { policy } = policyWith([['127.0.0.1']], { allow: ['loopback'] });
    const destinations = open({ policy });
    const run = (host: string, tenantId: string) =>
      outcomeOf((sink) => send(requestTo(host, { tenantId }), destinations, sink));
    for (const [host, tenantId] of [
      ['a.example', '1'],
      ['a.example', '2'],
      ['b.example', '1'],
      ['127.0.0.1', '1'],
      ['a.example', '1'],
    ] as const) {
      await run(host, tenantId);
      await connectionsAreKnown();
    }
    expect(destination.sockets.length).toBe(4);
  });
});
