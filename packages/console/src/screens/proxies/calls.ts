import type { Proxy as ProxyResource } from '@sluice/sdk';
import { headerPrefix } from '../../api/client.ts';

const body = `{"card": "{{ <token id> | json: '$.number' }}"}`;

/** A call to copy into a terminal. The caller's key is a shell variable, so that the shell's history does not contain it. */
export function curlCall({ key, require_auth: needsKey }: ProxyResource): string {
  const headers = [
    `-H '${headerPrefix}-PROXY-KEY: ${key}'`,
    ...(needsKey ? [`-H "${headerPrefix}-API-KEY: $SLUICE_API_KEY"`] : []),
    "-H 'Content-Type: application/json'",
  ];
  return [`curl "$SLUICE_URL/proxy"`, ...headers, `-d '${body.replaceAll("'", `'\\''`)}'`].join(' \\\n  ');
}

/** The same by the client library. */
export function libraryCall({ key }: ProxyResource): string {
  return `import { Sluice } from '@sluice/sdk';

const { SLUICE_URL, SLUICE_API_KEY } = process.env;
const sluice = new Sluice({ baseUrl: SLUICE_URL, apiKey: SLUICE_API_KEY });
const answer = await sluice.proxy('${key}').send('/', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ card: \`{{ \${tokenId} | json: '$.number' }}\` }),
});`;
}
