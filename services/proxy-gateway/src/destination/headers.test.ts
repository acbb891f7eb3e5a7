import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { slow } from '@sluice/testing';
import { checkConnection, headerFilter } from './headers.ts';

const filter = headerFilter('SVC');

describe('request headers', () => {
  test('hop-by-hop, framing, host, expect and own headers are left out, whatever their case', () => {
    const out = [
      'Connection',
      'Keep-Alive',
      'Proxy-Connection',
      'Proxy-Authorization',
      'Proxy-Authenticate',
      'TE',
      'Trailer',
    ];
    out.push(
      'Transfer-Encoding',
      'Upgrade',
      'HTTP2-Settings',
      'Host',
      'Expect',
      'Content-Length',
      'SVC-API-KEY',
      'svc-anything',
    );
    for (const name of out) {
      for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) {
        expect([spelled, filter.request([spelled, 'x'])]).toEqual([spelled, []]);
      }
    }
  });

  test('everything else passes as it is: case, order, repetition, bytes', () => {
    const kept = [
      'X-B',
      '1',
      'x-a',
      '2',
      'X-B',
      '3',
      'Cookie',
      'a=\u00e9',
      'Content-Type',
      '',
      'SVCX',
      'y',
      '__proto__',
      'z',
    ];
    kept.push('Content-Encoding', 'gzip', 'Proxy-Status', 'p', 'Authorization', 'Bearer x');
    expect(filter.request(kept)).toEqual(kept);
  });

  test('what Connection nominates is left out, before and after it', () => {
    const raw = [
      'X-One',
      '1',
      'Connection',
      'keep-alive, x-one ,X-TWO',
      'x-two',
      '2',
      'X-Three',
      '3',
      'connection',
      'x-three,,close',
    ];
    expect(filter.request([...raw, 'X-Four', '4'])).toEqual(['X-Four', '4']);
  });

  test('a transform sees what is end-to-end, framing and own headers included', () => {
    const raw = ['Host', 'h', 'Connection', 'close, x-one', 'X-One', '1', 'Content-Length', '5', 'SVC-TRACE-ID', 't'];
    raw.push('TE', 'trailers', 'Keep-Alive', 'x', 'Proxy-Authorization', 'x', 'Upgrade', 'x', 'Cookie', 'c');
    expect(filter.endToEnd(raw)).toEqual(['Host', 'h', 'Content-Length', '5', 'SVC-TRACE-ID', 't', 'Cookie', 'c']);
  });

  test('the prefix is a setting', () => {
    expect(headerFilter('ACME').request(['ACME-API-KEY', 'x', 'SVC-API-KEY', 'y'])).toEqual(['SVC-API-KEY', 'y']);
  });

  test('names without end do not fill the memory, and are still told apart', () => {
    const own = headerFilter('SVC');
    for (let i = 0; i < 5000; i++) expect(own.request([`x-${i}`, 'v', `svc-${i}`, 'v'])).toEqual([`x-${i}`, 'v']);
  });
});

describe('response headers', () => {
  test('takes the buffers of the parser; the length stays, hop-by-hop and own headers go', () => {
    const raw = [
      'Content-Length',
      '5',
      'Connection',
      'close, X-Inner',
      'X-Inner',
      '1',
      'SVC-PROXY-DESTINATION-STATUS',
      '200',
    ];
    raw.push('Set-Cookie', 'a', 'Set-Cookie', 'b', 'X-Latin', '\u00e9', 'Keep-Alive', 'timeout=5', 'Host', 'kept');
    const expected = ['Content-Length', '5', 'Set-Cookie', 'a', 'Set-Cookie', 'b', 'X-Latin', '\u00e9', 'Host', 'kept'];
    expect(filter.response(raw.map((part) => Buffer.from(part, 'latin1')))).toEqual(expected);
    expect(filter.response(raw)).toEqual(expected);
  });

  test('a length beside chunks is not passed on', () => {
    expect(filter.response(['Content-Length', '5', 'Transfer-Encoding', 'chunked', 'X', 'y'])).toEqual(['X', 'y']);
  });
});

describe('checkConnection', () => {
  test.each(['keep-alive', 'close', 'Keep-Alive, x-unsent', '', 'upgrade'])('lets %j pass', (value) => {
    expect(() => checkConnection(value, ['X-Sent', '1'])).not.toThrow();
  });

  test.each(['x-sent', 'keep-alive, X-SENT', 'host', 'Content-Length', 'transfer-encoding', 'authorization'])(
    'refuses %j',
    (value) => {
      const headers = ['X-Sent', '1', 'Authorization', 'x'];
      expect(() => checkConnection(value, headers)).toThrow(expect.objectContaining({ code: 'bad_request' }));
    },
  );
});

slow('4.6 s')('long names of headers, which destinations choose, are passed on and not kept in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const heldAfter = (length: number): number => {
    const measured = headerFilter('SVC');
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 1000; i++) {
      const name = Buffer.from(`x-${i}-`.padEnd(length, 'x'));
      expect(measured.response([name, Buffer.from('1')])).toHaveLength(2);
    }
    collect();
    const held = process.memoryUsage().heapUsed - before;
    expect(measured.response(['SVC-'.padEnd(length, 'x'), '1'])).toEqual([]); // and so it is still in use
    return held;
  };
  heldAfter(10);
  expect(heldAfter(60_000)).toBeLessThan(5_000_000);
});
