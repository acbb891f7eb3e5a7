import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { useStack } from '@sluice/testing';
import { talk } from '../raw-socket/testing/raw-client.ts';
import { statusesIn } from '../raw-socket/testing/scene.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => startTestGateway(stack));
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'clients-'));

interface Call {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Sends the call twice, one after the other, and gives the statuses. */
type Client = (call: Call) => Promise<number[]>;

const succeeds = (command: string, ...parameters: string[]) => spawnSync(command, parameters).status === 0;

/** Where the client itself is not on this machine, what it sends: these lines, and its body by length or in one chunk. */
function bytesOf(lines: string[], framing: 'length' | 'chunked' = 'length'): Client {
  return async ({ url, headers, body }) => {
    const { host, pathname } = new URL(url);
    const isChunked = framing === 'chunked';
    const all = [
      `Host: ${host}`,
      ...lines,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
    ];
    const sent = isChunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
    const request = `POST ${pathname} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${sent}`;
    // As clients do, the second goes out when the first is answered; both on one connection
    const answers = (text: string) => text.split('{"ok":true}').length - 1;
    const { text } = await talk(url, [request, request], { pauseMs: 200, until: (soFar) => answers(soFar) === 2 });
    return statusesIn(text);
  };
}

const offersH2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA'];

const curl: Client = succeeds('curl', '--version')
  ? async ({ url, headers, body }) => {
      const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
      const discarded = ['-o', '/dev/null', '-o', '/dev/null'];
      const options = ['-s', '--http2', '-w', '%{http_code}\n', ...discarded, ...lines, '--data', body];
      const { stdout } = await run('curl', [...options, url, url]);
      return stdout.trim().split('\n').map(Number);
    }
  : bytesOf(['User-Agent: curl/8.5.0', 'Accept: */*', ...offersH2c]);

const javaSource = `
import java.net.URI;
import java.net.http.*;
public class Caller {
  public static void main(String[] a) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (int i = 0; i < 2; i++) {
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(a[0])).POST(HttpRequest.BodyPublishers.ofString(a[1]));
      for (int h = 2; h < a.length; h += 2) request.header(a[h], a[h + 1]);
      System.out.println(client.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode());
    }
  }
}`;

const java: Client = spawnSync('java', ['--list-modules']).stdout?.includes('jdk.compiler@')
  ? async ({ url, headers, body }) => {
      const file = join(folder, 'Caller.java');
      writeFileSync(file, javaSource);
      const { stdout } = await run('java', [file, url, body, ...Object.entries(headers).flat()]);
      return stdout.trim().split('\n').map(Number);
    }
  : bytesOf([...offersH2c, 'User-Agent: Java-http-client/17.0.15']);

const pythonSource = `
import requests, sys
with requests.Session() as session:
    for _ in range(2):
        headers = dict(zip(sys.argv[3::2], sys.argv[4::2]))
        print(session.post(sys.argv[1], data=sys.argv[2], headers=headers).status_code)`;

const requests: Client = succeeds('python3', '-c', 'import requests')
  ? async ({ url, headers, body }) => {
      const { stdout } = await run('python3', ['-c', pythonSource, url, body, ...Object.entries(headers).flat()]);
      return stdout.trim().split('\n').map(Number);
    }
  : bytesOf([
      'User-Agent: python-requests/2.32.3',
      'Accept-Encoding: gzip, deflate',
      'Accept: */*',
      'Connection: keep-alive',
    ]);

const nodeFetch: Client = async ({ url, headers, body }) => {
  const statuses: number[] = [];
  for (let i = 0; i < 2; i++) {
    const answer = await fetch(url, { method: 'POST', headers, body });
    await answer.text();
    statuses.push(answer.status);
  }
  return statuses;
};

const axios = bytesOf([
  'Accept: application/json, text/plain, */*',
  'User-Agent: axios/1.12.2',
  'Accept-Encoding: gzip, compress, deflate, br',
  'Connection: keep-alive',
]);

const apache = bytesOf([
  'Accept-Encoding: gzip, x-gzip, deflate',
  'Connection: Upgrade',
  'Upgrade: TLS/1.2',
  'User-Agent: Apache-HttpClient/5.4.4 (Java/17.0.15)',
]);

const goLines = ['User-Agent: Go-http-client/1.1', 'Accept-Encoding: gzip'];

const clients: [name: string, client: Client][] = [
  ['curl', curl],
  ['fetch', nodeFetch],
  ['axios', axios],
  ['requests', requests],
  ['Java', java],
  ['Apache', apache],
  ['Go', bytesOf(goLines)],
  ['Go, with a body of unknown length', bytesOf(goLines, 'chunked')],
];

test.each(clients)(
  '%s gets its answers, and the destination the value, with nothing of an upgrade',
  async (_, client) => {
    const { tenant, url, destination } = gateway.current;
    const application = await tenant.application();
    const proxy = await tenant.proxy({ destination: destination.url });
    const token = await tenant.token({ data: 'the value' });
    destination.seen.length = 0;
    const statuses = await client({
      url: `${url}/proxy`,
      headers: { 'SVC-API-KEY': application.key, 'SVC-PROXY-KEY': proxy.key, 'Content-Type': 'application/json' },
      body: `{"secret":"{{ ${token} }}"}`,
    });
    expect(statuses).toEqual([200, 200]);
    expect(destination.seen.map(({ body }) => body)).toEqual(Array(2).fill('{"secret":"the value"}'));
    for (const { headers } of destination.seen) expect(Object.keys(headers).join()).not.toMatch(/upgrade|http2|svc-/);
  },
  60_000,
);

test('curl gets the refusal of a destination that does not read its upload, 15 times of 15', async () => {
  const { tenant, url, destination } = gateway.current;
  const application = await tenant.application();
  const proxy = await tenant.proxy({ destination: destination.url });
  const file = join(folder, 'upload');
  writeFileSync(file, Buffer.alloc(8 << 20, 'x'));
  // The listener of the test destination would read all of it first
  const [usual] = destination.server.listeners('request');
  destination.server.removeAllListeners('request');
  destination.server.on('request', (request, response) => {
    response.writeHead(413, { Connection: 'close', 'Content-Length': 8 }).end('too much', () => request.destroy());
  });
  const statuses: string[] = [];
  try {
    const options = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', 'Expect:', '-H', 'Content-Type: image/png'];
    const keys = ['-H', `SVC-API-KEY: ${application.key}`, '-H', `SVC-PROXY-KEY: ${proxy.key}`];
    for (let i = 0; i < 15; i++) {
      const { stdout } = await run('curl', [...options, ...keys, '-T', file, `${url}/proxy`]);
      statuses.push(stdout);
    }
  } finally {
    destination.server.removeAllListeners('request');
    destination.server.on('request', usual as () => void);
  }
  expect(statuses).toEqual(Array(15).fill('413'));
}, 60_000);
