import type { LookupAddress } from 'node:dns';
import net from 'node:net';
import { type DestinationPolicy, destinationPolicy, type Resolver } from './index.ts';

function policyFor(answers: string[], allow: string[] = []): DestinationPolicy {
  return destinationPolicy({
    schemes: ['http', 'https'],
    allow,
    deny: [],
    resolve(_hostname, _options, callback) {
      const addresses = answers.map((address) => ({ address, family: net.isIP(address) }));
      setImmediate(callback, null, addresses);
    },
  });
}

type Answer = { code?: string | undefined; address: string | LookupAddress[]; family?: number | undefined };

function lookUp(policy: DestinationPolicy, hostname: string, options = {}): Promise<Answer> {
  return new Promise((resolve) => {
    policy.lookup(hostname, options, (error, address, family) => resolve({ code: error?.code, address, family }));
  });
}

describe('lookup', () => {
  test.each([
    [['8.8.8.8'], undefined],
    [['8.8.8.8', '2606:4700::1111'], undefined],
    [['127.0.0.1'], 'EDESTINATIONDENIED'],
    [['8.8.8.8', '127.0.0.1'], 'EDESTINATIONDENIED'],
    [['127.0.0.1', '8.8.8.8'], 'EDESTINATIONDENIED'],
    [['8.8.8.8', '::1'], 'EDESTINATIONDENIED'],
    [['8.8.8.8', '::ffff:10.0.0.1'], 'EDESTINATIONDENIED'],
    [['2606:4700::1111', '169.254.169.254'], 'EDESTINATIONDENIED'],
    [['8.8.8.8', '64:ff9b::7f00:1'], 'EDESTINATIONDENIED'],
    [[], 'ENOTFOUND'],
  ])('answers %j end with %s, whether one or all are asked for', async (answers, code) => {
    const policy = policyFor(answers);
    expect((await lookUp(policy, 'example.com')).code).toBe(code);
    expect((await lookUp(policy, 'example.com', { all: true })).code).toBe(code);
  });

  test.each([
    [['10.0.0.1'], [], 'it is not a public host, and this installation does not allow it (DESTINATION_ALLOW)'],
    [['8.8.8.8'], ['example.com'], 'this installation forbids it (DESTINATION_DENY)'],
    [['169.254.169.254'], [], 'cloud metadata addresses are never allowed'],
  ])('for the log, the error names what decides about %j', (addresses, deny, reason) => {
    const resolve: Resolver = (_host, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      );
    const policy = destinationPolicy({ schemes: ['https'], allow: [], deny, resolve });
    const failed = new Promise((done) => policy.lookup('example.com', {}, (error) => done(error?.message)));
    return expect(failed).resolves.toBe(`The destination policy denies example.com (${addresses[0]}): ${reason}`);
  });

  test('hands on what it checked, in the shape that was asked for', async () => {
    const policy = policyFor(['8.8.8.8', '2606:4700::1111']);
    expect(await lookUp(policy, 'example.com')).toMatchObject({ address: '8.8.8.8', family: 4 });
    expect((await lookUp(policy, 'example.com', { all: true })).address).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });

  test('a closed name is refused even if it resolves to a public address', async () => {
    expect((await lookUp(policyFor(['8.8.8.8']), 'metadata.google.internal')).code).toBe('EDESTINATIONDENIED');
  });

  test('an allowed name resolves to inner addresses, but not to metadata', async () => {
    expect((await lookUp(policyFor(['10.0.0.1'], ['a.test']), 'a.test')).code).toBeUndefined();
    expect((await lookUp(policyFor(['10.0.0.1', '169.254.169.254'], ['a.test']), 'a.test')).code).toBe(
      'EDESTINATIONDENIED',
    );
  });

  test('the family and other options reach the resolver, and its failure comes back', async () => {
    const asked: unknown[] = [];
    const policy = destinationPolicy({
      schemes: ['https'],
      allow: [],
      deny: [],
      resolve(hostname, options, callback) {
        asked.push([hostname, options]);
        callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
      },
    });
    expect((await lookUp(policy, 'example.com', { family: 6, hints: 32 })).code).toBe('ENOTFOUND');
    expect(asked).toEqual([['example.com', { family: 6, hints: 32, all: true }]]);
  });

  test('a socket does not connect when the name points inside, and does when the policy is open', async () => {
    const server = net.createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as net.AddressInfo;
    const connect = (policy: DestinationPolicy) =>
      new Promise<string>((resolve) => {
        const socket = net.connect({ host: 'rebind.example', port, lookup: policy.lookup });
        socket
          .once('connect', () => resolve('connected'))
          .once('error', (error: NodeJS.ErrnoException) => resolve(`${error.code}`));
        socket.once('close', () => resolve('closed'));
      });
    expect(await connect(policyFor(['127.0.0.1']))).toBe('EDESTINATIONDENIED');
    expect(await connect(policyFor(['127.0.0.1'], ['loopback']))).toBe('connected');
    await new Promise((resolve) => server.close(resolve));
  });
});
