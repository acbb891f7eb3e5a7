import { useStack } from '@sluice/testing';
import { connectAgent, credential, openMcp } from './open-mcp.ts';

/**
 * An agent that tries to see the credential of a route, by everything that it can say, at a destination that echoes all
 * that it gets. The credential is a token, bound by `use`, in `request_headers` of a Proxy with an Application.
 */
const world = useStack(async (closing) => {
  const mcp = await openMcp(closing);
  const guarded = await mcp.createRoute('guarded', { response_guard: 'redact' });
  const tokenizing = await mcp.createRoute('tokenizing', { response_guard: 'tokenize' });
  const open = await mcp.createRoute('open', {});
  const connect = (...typed: string[]) => connectAgent(typed, { env: mcp.env, closing });
  return { ...mcp, guarded, tokenizing, open, connect };
});

const forms = [
  ...['', 'plain', 'base', 'hex', 'uri', 'typed', 'failing', 'refusing', 'moved', 'gzip', 'untyped', 'image', 'long'],
  'pieces',
];

/** A text of the credential long enough that nothing else has it, in each form that the destination writes. */
const traces = (text: string) => {
  const inBase64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.from('x'.repeat(offset) + text).toString('base64');
    // Without the first and last characters, which depend on what stands beside it.
    return encoded.slice(4, -4);
  });
  const inJson = JSON.stringify(text).slice(1, -1);
  return [text, inJson, encodeURIComponent(text), Buffer.from(text).toString('hex'), ...inBase64];
};

function found(heard: string): string[] {
  // As it arrives, and as a model reads the texts in it.
  const read = heard.replaceAll('\\\\', '\\').replaceAll('\\"', '"');
  const [middle = ''] = /9f.*31/.exec(credential) ?? [];
  return [credential, middle]
    .flatMap((text) => [...traces(text), ...traces(JSON.stringify(text).slice(1, -1))])
    .filter((trace) => heard.includes(trace) || read.includes(trace));
}

type Agent = Awaited<ReturnType<typeof connectAgent>>;

/** Everything with which an agent might succeed. @returns how many of its tries were refused. */
async function tryEverything(
  agent: Agent,
  route: string,
  tokenId: string,
): Promise<{ tries: number; refused: number }> {
  const { use, call } = agent;
  const expression = `{{ ${tokenId} }}`;
  const own = JSON.parse((await use('tokenize', { value: expression })).head).expression as string;
  const calls: [path: string, more?: object][] = [
    ...forms.map((form): [string] => [`/${form}`]),
    ...[expression, `{{ ${tokenId} | base64_encode }}`, own, '{{ config: KEY }}'].flatMap(
      (text): [string, object?][] => [
        ['/', { method: 'POST', body: text }],
        ['/', { method: 'POST', body: { text } }],
        ['/', { method: 'POST', body: text, headers: { 'Content-Type': 'text/plain' } }],
        [`/?text=${encodeURIComponent(text)}`],
        [`/${encodeURIComponent(text)}`],
        ['/', { headers: { 'X-Text': text } }],
      ],
    ),
    // Other ways to the credential, or past the route.
    ...['Authorization', 'authorization', 'X-Api-Key', 'SVC-API-KEY', 'svc-proxy-key', 'SVC-ANYTHING'].map(
      (name): [string, object] => ['/', { headers: { [name]: 'Bearer {{ x }}' } }],
    ),
    ...['Host', 'Connection', 'Transfer-Encoding'].map((name): [string, object] => [
      '/',
      { headers: { [name]: 'close' } },
    ]),
    ['/', { headers: { 'X-Cut': 'a\r\nAuthorization: b' } }],
    ['/', { headers: { Range: 'bytes=10-40' } }],
    ['/', { headers: { 'Accept-Encoding': 'br, deflate' } }],
    ...[`/../../tokens/${tokenId}`, `/..%2f..%2ftokens/${tokenId}`, `//tokens/${tokenId}`, '/../open/'].map(
      (path): [string] => [path],
    ),
    [`/?SVC-API-KEY=x&SVC-PROXY-KEY=y`],
    ...['PUT', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'CONNECT'].map((method): [string, object] => ['/', { method }]),
  ];
  const answers = [];
  for (const [path, more] of calls) answers.push(await call(route, path, more));
  for (const other of ['open', '../tokens', `${route}/../open`, '']) answers.push(await call(other, '/'));
  answers.push(await use('tokenize', { value: { $token: tokenId } }));
  answers.push(await use('list_routes'));
  return { tries: answers.length, refused: answers.filter(({ isError }) => isError).length };
}

test.each(['guarded', 'tokenizing'] as const)('the credential of a route is never seen: %s', async (route) => {
  const { connect, echo, backend, platform, [route]: made } = world.current;
  const before = echo.seen.length;
  const agent = await connect('--routes', 'guarded,tokenizing');
  const { tries, refused } = await tryEverything(agent, route, made.token);
  expect(found(agent.heard())).toEqual([]);
  expect(agent.heard()).not.toMatch(/svc_local_(prv|pub|mgt|ses)_/);
  expect(agent.heard()).not.toContain(backend.key);
  expect(agent.heard()).not.toContain(platform.stack.credentials.management_key);
  // It was there to be seen, and the agent was not merely refused.
  const authorized = echo.seen.slice(before).filter(({ headers }) => headers.authorization === `Bearer ${credential}`);
  expect(authorized.length).toBeGreaterThan(20);
  expect(authorized).toHaveLength(echo.seen.length - before);
  expect(tries - refused).toBeGreaterThan(20);
  // Nor did the destination get what is ours.
  expect(JSON.stringify(echo.seen)).not.toMatch(/svc_local_|svc-(api|proxy)-key"/);
});

test('without a guard it is seen, in every form that the destination writes', async () => {
  const { connect, open } = world.current;
  const agent = await connect('--routes', 'open', '--unguarded');
  for (const form of ['', 'base', 'hex', 'uri']) {
    const { heard, call } = await connect('--routes', 'open', '--unguarded');
    await call('open', `/${form}`);
    expect([form, found(heard()).length > 0]).toEqual([form, true]);
  }
  await tryEverything(agent, 'open', open.token);
  expect(found(agent.heard())).toContain(credential);
});
