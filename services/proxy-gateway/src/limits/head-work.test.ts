import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { slow } from '@sluice/testing';
import { nextCdnLoop } from '../http/cdn-loop.ts';
import { headerNamesFor } from '../http/header-names.ts';
import { readInvocation } from '../invocation/read-invocation.ts';

/** Heads are read before authentication, so each must cost about as much as any other of its size. */
const size = 15_000;
const fill = (text: string, length = size) => text.repeat(length / text.length);

/** In microseconds, for ten reads on a slow machine; smaller differences cannot be measured. */
const leastWork = 2500;

/** Processor time of the main thread in microseconds: the minimum of several rounds. */
function workOf(read: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) {
    const before = process.threadCpuUsage();
    for (let times = 0; times < 10; times += 1) read();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, user + system);
  }
  return Math.max(least, leastWork);
}

const hostileLoops = [fill('"\\'), `${fill('"\\')}\\`, fill('""'), fill('"\\"a'), fill('a,'), fill('sluic,')];

test.each(hostileLoops.map((text) => [text.slice(0, 8), text]))('CDN-Loop of %s', (_, text) => {
  const plain = workOf(() => nextCdnLoop(fill('other, ')));
  expect(workOf(() => nextCdnLoop(text)) / plain).toBeLessThan(10);
});

slow('1.1 s')('the control: a pattern that starts anew at each quote takes far more', () => {
  const quotedText = /"(?:[^"\\]|\\.)*"/g;
  const plain = workOf(() => nextCdnLoop(fill('other, ', 4000)));
  expect(workOf(() => fill('"\\', 4000).replace(quotedText, '')) / plain).toBeGreaterThan(10);
});

const context = { headerNames: headerNamesFor('SVC'), hostOf: () => ({ kind: 'base' as const }) };

function read(query: string) {
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.httpVersion = '1.1';
  request.url = `/proxy?${query}&svc-proxy-key=K`;
  request.headers = { host: 'a' };
  request.rawHeaders = ['Host', 'a'];
  return readInvocation(request, context);
}

test.each(['&', '%&', 'a=', '%73&', 'svc-proxy-kez=&'])('queries of %s', (part) => {
  const plain = workOf(() => read(fill('x')));
  expect(workOf(() => read(fill(part))) / plain).toBeLessThan(10);
});

test('the key is found in every spelling, and everything else stays byte for byte', () => {
  expect(read('a=%41&%73vc-proxy%2dkey=K&&b').target.query).toBe('?a=%41&&b');
  expect(read('%73%76%63%2d%70%72%6f%78%79%2d%6b%65%79=K').target.query).toBe('');
  expect(() => read('%73vc-proxy-key=L')).toThrow('different proxy keys');
});

test('members in quoted text do not count, those behind a quote that is never closed do', () => {
  const loops = (received: string) => nextCdnLoop(received);
  expect(loops('"sluice, sluice, sluice, sluice"')).toMatch(/, sluice$/);
  expect(loops('"a\\", sluice, sluice, sluice, sluice"')).toMatch(/, sluice$/);
  expect(() => loops('"sluice, sluice, sluice, sluice, sluice')).toThrow('passed through this service');
  expect(() => loops('"\\", sluice, sluice, sluice, sluice')).toThrow('passed through this service');
});
