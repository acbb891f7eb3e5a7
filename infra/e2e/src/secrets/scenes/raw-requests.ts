import type { Stage } from './stage.ts';

/** What no HTTP client would send: the parsers' own errors must not tell either. */
export async function sendMalformed({ client, canaries }: Stage, urls: readonly string[]): Promise<void> {
  const secret = canaries.text('malformed');
  const { card } = canaries;
  const requests = [
    `POST /tokens HTTP/1.1\r\nHost: a\r\nSVC-API-KEY ${secret}\r\n\r\n`,
    `POST /tokens?a=${secret} HTTP/1.1\r\nHost: a\r\n\r\n`,
    `${card} /proxy HTTP/1.1\r\nHost: a\r\n\r\n`,
    `POST /proxy HTTP/1.1\r\nHost: a\r\nSVC-PROXY-KEY: ${secret}\u0000\r\n\r\n`,
    `POST /proxy HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${secret}\r\n`,
    `POST /tokens HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 6\r\n\r\n${secret}`,
    `POST /tokens HTTP/1.1\r\nHost: a\r\nX: ${secret.repeat(2000)}\r\n\r\n`,
    `POST /tokens HTTP/1.1\r\nHost: a\r\n${`X-${card}: a\r\n`.repeat(150)}\r\n`,
    `POST /tokens HTTP/9.${card}\r\nHost: a\r\n\r\n`,
  ];
  for (const url of urls) {
    await Promise.all(requests.map((request) => client.sendRaw(url, request)));
  }
}
