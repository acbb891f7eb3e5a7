import { setTimeout as wait } from 'node:timers/promises';
import { byBytes } from './by-bytes.ts';
import { byProgram, type Client, inOrder, succeeds } from './client.ts';
import { javaClients } from './java.ts';

const curl = byProgram('curl', 'curl', ({ url, method, headers, body }) => {
  const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const discarded = ['-o', '/dev/null', '-o', '/dev/null'];
  const sent = body === '' ? [] : ['--data', body];
  return ['-s', '--http2', '-X', method, '-w', '%{http_code}\n', ...discarded, ...lines, ...sent, url, url];
});

const curlBytes = byBytes('curl', [
  'User-Agent: curl/8.5.0',
  'Accept: */*',
  'Connection: Upgrade, HTTP2-Settings',
  'Upgrade: h2c',
  'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
]);

const pythonSource = `
import requests, sys
url, method, body = sys.argv[1:4]
with requests.Session() as session:
    for _ in range(2):
        headers = dict(zip(sys.argv[4::2], sys.argv[5::2]))
        print(session.request(method, url, data=body or None, headers=headers).status_code)`;

const python = byProgram('requests (Python)', 'python3', (call) => ['-c', pythonSource, ...inOrder(call)]);

const pythonBytes = byBytes(python.name, [
  'User-Agent: python-requests/2.32.3',
  'Accept-Encoding: gzip, deflate',
  'Accept: */*',
  'Connection: keep-alive',
]);

const nodeFetch: Client = {
  name: '`fetch` of Node',
  isReal: true,
  async callTwice({ url, method, headers, body }) {
    const statuses: number[] = [];
    for (let i = 0; i < 2; i++) {
      const answer = await fetch(url, { method, headers, ...(body && { body }) });
      await answer.text();
      statuses.push(answer.status);
      await wait(20); // the connection is free a little after its answer is read
    }
    return statuses;
  },
};

const goLines = ['User-Agent: Go-http-client/1.1', 'Accept-Encoding: gzip'];

/** In the order of the table of the root README. Where the machine lacks a client, its bytes are sent. */
export const clients: readonly Client[] = [
  succeeds('curl', '--version') ? curl : curlBytes,
  nodeFetch,
  byBytes('axios', [
    'Accept: application/json, text/plain, */*',
    'User-Agent: axios/1.21.1',
    'Accept-Encoding: gzip, compress, deflate, br',
    'Connection: keep-alive',
  ]),
  succeeds('python3', '-c', 'import requests') ? python : pythonBytes,
  ...javaClients,
  byBytes('default client of Go', goLines),
  byBytes('default client of Go, with a body of unknown length', goLines, 'chunked'),
];
