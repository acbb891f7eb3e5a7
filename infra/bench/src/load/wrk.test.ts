import { readWrkOutput } from './wrk.ts';

const good = `Running 5s test @ http://127.0.0.1:8083/proxy
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.12ms  640.00us  31.20ms   95.10%
    Req/Sec    15.20k   450.10    16.01k    71.00%
  Latency Distribution
     50%  812.00us
     75%    2.20ms
     90%    2.61ms
     99%    1.05s 
  76012 requests in 5.01s, 25.30MB read
Requests/sec:  15172.03
Transfer/sec:      5.05MB
`;

const summary = '  76012 requests in 5.01s, 25.30MB read\n';

describe('the output of wrk', () => {
  test('rates are requests a second, latencies milliseconds', () => {
    expect(readWrkOutput(good)).toEqual({ requestsPerSecond: 15_172.03, p50Ms: 0.812, p99Ms: 1050, errors: 0 });
  });

  test('every kind of socket error counts, and so does every answer that is an error', () => {
    const lines = '  Socket errors: connect 1, read 20, write 300, timeout 4000\n  Non-2xx or 3xx responses: 50000\n';
    expect(readWrkOutput(good.replace(summary, summary + lines)).errors).toBe(54_321);
  });

  test('output without a rate is not read as a figure', () => {
    expect(() => readWrkOutput('unable to connect to 127.0.0.1:1 Connection refused\n')).toThrow(/Connection refused/);
  });
});
