import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { promisify } from 'node:util';
import { destinationPolicy } from '@sluice/destination-policy';
import { type Issued, issueCertificate } from '@sluice/testing';
import { closeAll, listen, onClose, open, outcomeOf } from '../testing/destination-servers.ts';
import { type DestinationOptions, forward, openDestinations, streamThrough } from './index.ts';

afterEach(closeAll);

const authority = issueCertificate('Test Authority');
const directory = mkdtempSync(join(tmpdir(), 'destination-'));
const caFile = join(directory, 'ca.pem');
writeFileSync(caFile, authority.certificate);
afterAll(() => rmSync(directory, { recursive: true }));

const policy = destinationPolicy({
  schemes: ['https'],
  allow: ['*.example.test', 'loopback'],
  deny: [],
  resolve: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
});

async function startTls({ certificate: cert, key }: Issued, options: TlsOptions = {}) {
  const names: unknown[] = [];
  const server = createServer({ cert, key, ...options }, (request, response) => {
    names.push('servername' in request.socket ? request.socket.servername : undefined);
    response.end('secret');
  });
  const { port } = new URL(await listen(server, 'https'));
  onClose(() => server.closeAllConnections());
  return { origin: `https://api.example.test:${port}`, byAddress: `https://127.0.0.1:${port}`, names };
}

describe.each([
  ['forward', forward],
  ['streamThrough', streamThrough],
])('TLS by %s', (_, send: typeof forward) => {
  const call = (origin: string, destinations = open({ policy, caFile })) =>
    outcomeOf((sink) =>
      send({ tenantId: 't', origin, path: '/', method: 'GET', headers: [], body: undefined }, destinations, sink),
    );

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'an authority from the file is trusted, by name (%s)',
    async (maxVersion) => {
      const { origin, names } = await startTls(issueCertificate('api.example.test', authority), { maxVersion });
      expect(await call(origin)).toMatchObject({ status: 200, body: 'secret', isWhole: true });
      expect(await call(origin.replace('.test:', '.test.:'))).toMatchObject({ status: 200 });
      expect(names).toEqual(['api.example.test', 'api.example.test']);
    },
  );

  test('without the file it is not trusted', async () => {
    const { origin, names } = await startTls(issueCertificate('api.example.test', authority));
    expect((await call(origin, open({ policy }))).error).toMatchObject({ code: 'destination_unreachable' });
    expect(names).toEqual([]);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('another name is refused, each time (%s)', async (maxVersion) => {
    const { origin, byAddress, names } = await startTls(issueCertificate('other.example.test', authority), {
      maxVersion,
    });
    const destinations = open({ policy, caFile });
    for (const target of [origin, origin, origin, byAddress]) {
      expect((await call(target, destinations)).error).toMatchObject({
        code: 'destination_unreachable',
        detail: 'The TLS certificate of the destination is for another name',
        cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
      });
    }
    expect(names).toEqual([]);
  });

  test('a destination that speaks no TLS is 502', async () => {
    const server = createServer();
    const { port } = new URL(await listen(server, 'https'));
    expect((await call(`https://api.example.test:${port}`)).error).toMatchObject({ code: 'destination_unreachable' });
  });

  test('a handshake that does not end is 504', async () => {
    const { createServer: createTcpServer } = await import('node:net');
    const server = createTcpServer((socket) => onClose(() => socket.destroy()));
    const { port } = new URL(await listen(server, 'https'));
    const outcome = await call(`https://api.example.test:${port}`, open({ policy, caFile, connectTimeoutMs: 150 }));
    expect(outcome.error).toMatchObject({ code: 'destination_timeout' });
  });
});

test('the environment cannot switch the check off', async () => {
  const { origin } = await startTls(issueCertificate('localhost', authority));
  const url = origin.replace('api.example.test', 'localhost');
  const script = `
    const { openDestinations, forward } = await import(process.argv[1]);
    const { destinationPolicy } = await import('@sluice/destination-policy');
    const destinations = openDestinations({
      policy: destinationPolicy({ schemes: ['https'], allow: ['loopback'], deny: [] }),
      headerPrefix: 'SVC', headTimeoutMs: 5000, connectTimeoutMs: 5000, keepAliveTimeoutMs: 1, maxConnectionsPerOrigin: 1,
    });
    const request = { tenantId: 't', origin: process.argv[2], path: '/', method: 'GET', headers: [], body: undefined };
    await new Promise((resolve) => forward(request, destinations, {
      onHead: (status) => console.log(status), onData: () => true, onEnd: resolve,
      onError: (error) => { console.log(error.cause.code); resolve(); },
    }));
    await destinations.close();
    await fetch(process.argv[2]).then(({ status }) => console.log('fetch', status));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script, join(import.meta.dirname, 'index.ts'), url],
    { env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' }, cwd: import.meta.dirname },
  );
  expect(stdout.trim().split('\n')).toEqual(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'fetch 200']);
});

test.each([
  ['nothing-here.pem', 'ENOENT'],
  ['empty.pem', 'DESTINATION_CA_FILE'],
])('a CA file that cannot be used stops the start (%s)', (name, message) => {
  writeFileSync(join(directory, 'empty.pem'), 'no certificate');
  const options: DestinationOptions = {
    policy,
    caFile: join(directory, name),
    headerPrefix: 'SVC',
    headTimeoutMs: 1,
    connectTimeoutMs: 1,
    keepAliveTimeoutMs: 1,
    maxConnectionsPerOrigin: 1,
  };
  expect(() => openDestinations(options)).toThrow(message);
});
