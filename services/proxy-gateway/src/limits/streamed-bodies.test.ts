import { randomBytes } from 'node:crypto';
import { type ClientRequest, createServer, type OutgoingHttpHeaders, request } from 'node:http';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { listen } from '@sluice/service-runtime';
import { eventually, slow, useStack } from '@sluice/testing';
import { heldWhileStreaming } from '../detokenization/stream/reveal-stream.ts';
import { startTestGateway } from '../testing/test-gateway.ts';
import { repeated, upload } from '../testing/upload.ts';

const limitBytes = 256 * 1024;
const mebibyte = 2 ** 20;
const gateway = useStack(async (stack) => {
  const requests: { url: string; answer: () => void }[] = [];
  const server = createServer({ requestTimeout: 0 }, (incoming, response) => {
    const { url = '' } = incoming;
    requests.push({ url, answer: () => response.writeHead(200).end('{}') });
    if (!url.endsWith('/unread')) incoming.resume();
    if (url.endsWith('/answer')) incoming.on('end', () => response.writeHead(200).end('{}'));
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0, stack });
  stack.defer(() => server.closeAllConnections());
  const strict = await startTestGateway(stack, {
    BODY_HELD_BYTES: `${4 * mebibyte}`,
    BODY_WAIT_MS: '1000',
    BODY_LIMIT_BYTES: `${limitBytes}`,
    DESTINATION_MAX_CONNECTIONS: '12',
  });
  // Requests of a Tenant have room for one decoder of brotli or zstd.
  const decoding = await startTestGateway(stack, {
    BODY_HELD_BYTES: `${64 * mebibyte}`,
    BODY_HELD_TENANT_BYTES: `${24 * mebibyte}`,
    BODY_WAIT_MS: '1000',
    BODY_LIMIT_BYTES: `${limitBytes}`,
  });
  const patient = await decoding.startAnother({ BODY_WAIT_MS: '600000' });
  return { ...strict, requests, url: strict.url, decoding, patient, destinationUrl: `http://127.0.0.1:${port}` };
});

async function headersTo(path: string, requireAuth = true, tenant = gateway.current.tenant) {
  const { destinationUrl } = gateway.current;
  const proxy = await tenant.proxy({ destination: `${destinationUrl}/${path}`, requireAuth });
  const { key } = await tenant.application();
  return { 'SVC-PROXY-KEY': proxy.key, 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
}

const hex = `"${randomBytes(200_000).toString('hex')}"`;

slow('0.6 s').each<[what: string, body: Buffer, coding: Record<string, string>]>([
  ['that has been found too large', Buffer.from(hex), {}],
  ['that is too large once it is decoded', gzipSync(hex), { 'Content-Encoding': 'gzip' }],
])('the part of a body %s stays reserved while it waits for its destination', async (_, body, coding) => {
  const { url, requests } = gateway.current;
  const headers = { ...(await headersTo('late', false)), ...coding };
  requests.length = 0;
  const chunks = () => [body.subarray(0, 100_000), body.subarray(100_000)];
  const statuses: number[] = [];
  const details: (string | undefined)[] = [];
  const uploads: Promise<void>[] = [];
  const send = async () => {
    const { status, detail } = await upload(url, headers, chunks());
    statuses.push(status);
    details.push(detail);
  };
  for (let at = 0; at < 40 && statuses.length === 0; at += 1) {
    uploads.push(send());
    await new Promise((resolve) => setTimeout(resolve, 50)); // so that none waits for others to be decoded
  }
  await eventually('a refusal', () => details.some((detail) => detail?.includes('no free memory')));
  await eventually('all others at the destination', () => {
    for (const { answer } of requests.splice(0)) answer();
    return statuses.length === uploads.length;
  });
  await Promise.all(uploads);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});

test('windows that values make large wait for room, in vain for 503, and give it back', async () => {
  const { url, tenant, requests } = gateway.current;
  requests.length = 0;
  const token = await tenant.token({ data: 'x'.repeat(6000) });
  const [unread, answered] = [await headersTo('unread'), await headersTo('answer')];
  const window = `"{{${token}}}",`.repeat(30) + '"lorem ipsum",'.repeat(4600);
  const attack = () => {
    const outgoing = request(`${url}/proxy`, { method: 'POST', headers: { ...unread, 'Content-Length': 2e9 } });
    outgoing.on('error', () => {}); // it is cut off in the end
    outgoing.write(`[${window.repeat(60)}`);
    return outgoing;
  };
  const attackers = Array.from({ length: 8 }, attack);
  const sent = () =>
    upload(
      url,
      answered,
      ['[', window, ...[...repeated('"lorem",', 40_000)], '1]'].map((part) => Buffer.from(part)),
    );
  await eventually('a refusal', async () => (await sent()).status === 503);
  for (const attacker of attackers) attacker.destroy();
  // The gateway does not read their connections, so their destination has to tell it that they are over
  await eventually('room', async () => {
    for (const { url, answer } of requests.splice(0)) if (url.endsWith('/unread')) answer();
    return (await sent()).status === 200;
  });
});

function begin(url: string, headers: OutgoingHttpHeaders, body: Buffer): ClientRequest {
  const outgoing = request(`${url}/proxy`, { method: 'POST', headers });
  outgoing.on('error', () => {}); // it is cut off in the end
  outgoing.write(body);
  return outgoing;
}

const strings = JSON.stringify(Array.from({ length: 20_000 }, () => randomBytes(10).toString('hex')));

test.each<[coding: string, body: Buffer, refused: number]>([
  ['br', brotliCompressSync(strings), 2],
  ['zstd', zstdCompressSync(strings), 2],
  ['gzip', gzipSync(strings), 0],
])('a body that is decoded from %s while it streams reserves what its decoder takes', async (coding, body, refused) => {
  const { decoding, requests } = gateway.current;
  const headers = {
    ...(await headersTo('unread', true, decoding.tenant)),
    'Content-Encoding': coding,
    'Content-Length': 2e9,
  };
  requests.length = 0;
  const statuses: (number | undefined)[] = [];
  const start = () => {
    const outgoing = begin(decoding.url, headers, body);
    outgoing.on('response', (response) => statuses.push(response.resume().statusCode));
    return outgoing;
  };
  const uploads = [start(), start(), start()];
  const decided = () => statuses.length === refused && requests.length === uploads.length - refused;
  await eventually('all refused, or at the destination', decided);
  expect(statuses).toEqual(Array(refused).fill(503));
  for (const outgoing of uploads) outgoing.destroy();
  if (refused === 0) return;
  requests.length = 0;
  const next = start();
  await eventually('room for the next one', () => requests.length === 1);
  next.destroy();
});

test('a body that streams reserves its windows until it ends', async () => {
  const { decoding, patient, requests } = gateway.current;
  const headers = { ...(await headersTo('unread', true, decoding.tenant)), 'Content-Length': 2e9 };
  requests.length = 0;
  const outgoing = begin(patient.url, headers, Buffer.from(JSON.stringify(Array(40_000).fill('lorem'))));
  await eventually('the destination', () => requests.length === 1);
  expect(await gauge('sluice_body_held_bytes')).toBe(heldWhileStreaming);
  outgoing.destroy();
  await eventually('nothing is held', async () => {
    for (const { answer } of requests.splice(0)) answer();
    return (await gauge('sluice_body_held_bytes')) === 0;
  });
});

async function gauge(name: string): Promise<number> {
  const metrics = await gateway.current.patient.metrics.metrics();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1]);
}

const waiting = () => gauge('sluice_body_waiting');

test.each([
  ['br', brotliCompressSync(strings)],
  ['zstd', zstdCompressSync(strings)],
])('bodies that wait for a decoder of %s hold up no other body of their Tenant', async (coding, body) => {
  const { decoding, patient, requests } = gateway.current;
  const plain = await headersTo('answer', true, decoding.tenant);
  const unread = { ...(await headersTo(`${coding}/unread`, true, decoding.tenant)), 'Content-Encoding': coding };
  requests.length = 0;
  const uploads = [1, 2, 3].map(() => begin(patient.url, { ...unread, 'Content-Length': 2e9 }, body));
  await eventually('one at the destination, and two that wait', async () => {
    const begun = requests.filter(({ url }) => url === `/${coding}/unread`);
    return begun.length === 1 && (await waiting()) === 2;
  });
  const small = Buffer.from(JSON.stringify('x'.repeat(10_000)));
  const answer = await upload(patient.url, { ...plain, 'Content-Length': small.length }, [small]);
  const gzipped = await upload(patient.url, { ...plain, 'Content-Encoding': 'gzip' }, [gzipSync(strings)]);
  expect([answer.status, gzipped.status]).toEqual([200, 200]);
  expect(await waiting()).toBe(2);
  for (const outgoing of uploads) outgoing.destroy();
  // Those that wait are not read, so that they may still get their turn before they are found to be gone
  await eventually('nothing that is held or waits', async () => {
    for (const { url, answer } of requests.splice(0)) if (url.endsWith('/unread')) answer();
    return (await gauge('sluice_body_held_bytes')) === 0 && (await waiting()) === 0;
  });
});

test.each([
  ['br', brotliCompressSync(strings)],
  ['zstd', zstdCompressSync(strings)],
])(
  'the room of a decoder of %s is free once it has read its body, although no answer has come',
  async (coding, body) => {
    const { decoding, patient, requests } = gateway.current;
    const headers = { ...(await headersTo('late', true, decoding.tenant)), 'Content-Encoding': coding };
    requests.length = 0;
    const uploads = [1, 2, 3].map(() => upload(patient.url, headers, [body]));
    const late = () => requests.filter(({ url }) => url.endsWith('/late'));
    await eventually('all at the destination', () => late().length === uploads.length);
    for (const { answer } of late()) answer();
    expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await waiting()).toBe(0);
  },
);
