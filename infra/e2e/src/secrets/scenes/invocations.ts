import { createProxy, type Stage } from '../stage.ts';
import type { CreatedTokens } from './tokens.ts';

/** What the destination of an echo sends back is the caller's to see. */
const echoed = ['card', 'cardPatched', 'cvc', 'account', 'routing', 'text', 'socialSecurity', 'note', 'sent'];

/** Tokens go to destinations that answer, refuse, break off, are not there or are not allowed. */
export async function invoke(stage: Stage, tokens: CreatedTokens): Promise<void> {
  const { client, canaries, destination, revealing } = stage;
  const sent = canaries.text('sent');
  const headers = { Authorization: `Bearer ${encodeURIComponent(sent)}`, Cookie: `a=${encodeURIComponent(sent)}` };
  const inPath = `/${encodeURIComponent(sent)}?key=${encodeURIComponent(sent)}&card=${canaries.card}`;
  const all = Object.values({ ...tokens, spare: tokens.text }).map((id) => `{{ ${id} }}`);
  const bodies: [type: string, body: string][] = [
    ['application/json', JSON.stringify({ all, sent })],
    ['application/x-www-form-urlencoded', `card={{ ${tokens.text} }}&sent=${encodeURIComponent(sent)}`],
    ['text/plain', `${sent} {{ ${tokens.bank} | json: '$.account_number' }}`],
  ];
  const destinations: [name: string, url: string, statuses: number[]][] = [
    ['echo', `${destination.url}/echo`, [200]],
    ['refuse', `${destination.url}/refuse`, [422]],
    ['reset', `${destination.url}/reset`, [502]],
    ['hang', `${destination.url}/hang`, [504]],
    ['cut', `${destination.url}/cut`, [200, 599]],
    ['broken', destination.brokenUrl, [502]],
    ['refusing', destination.refusingUrl, [502]],
    ['unknown', 'http://sluice-does-not-exist.internal.example', [400, 502]],
  ];
  for (const [name, url, statuses] of destinations) {
    const proxy = await createProxy(stage, name, { destination_url: url });
    for (const [type, body] of bodies) {
      const shows = ['echo', 'refuse', 'cut'].includes(name) ? echoed : [];
      const send = (method: string, path: string, more: Record<string, string>, is = (_status: number) => true) => {
        const sent = { headers: { ...headers, 'Content-Type': type, ...more }, body, shows, is };
        return client.send(method, `/proxy${path}`, { key: revealing.key, ...sent });
      };
      // Over undici, and over http-proxy.
      for (const connection of [{}, { 'SVC-PROXY-KEEP-ALIVE': 'timeout=5' }]) {
        const own = { 'SVC-PROXY-KEY': proxy.key, ...connection };
        await send('POST', inPath, own, (status) => statuses.includes(status));
      }
      await send('PUT', `${inPath}&svc-proxy-key=${proxy.key}`, {});
    }
    await refuseInvocations(stage, tokens, proxy.key);
  }
  expect(destination.received.join('\n')).toContain(canaries.cardPatched);
}

async function refuseInvocations(stage: Stage, tokens: CreatedTokens, proxyKey: string): Promise<void> {
  const { client, canaries, revealing } = stage;
  const secret = canaries.text('refused by the gateway');
  const bodies = [
    `{"a": "{{ ${tokens.card} }}", "b": "${secret}`,
    `{"a": "${secret} {{ ${tokens.card} | pad_left: ${canaries.socialSecurity} }}"}`,
    `{"a": "${secret} {{ ${tokens.object} | no_such_filter }}"}`,
    `{"a": {{ ${tokens.card} }}, "b": "${secret}"}`,
    `{"a": "{{ }} ${secret}"}`,
    `{"a": "${secret} {{ 00000000-0000-4000-8000-000000000000 }}"}`,
  ];
  for (const body of bodies) {
    const headers = { 'SVC-PROXY-KEY': proxyKey };
    await client.send('POST', '/proxy', { key: revealing.key, headers, body, is: 400 });
  }
}
