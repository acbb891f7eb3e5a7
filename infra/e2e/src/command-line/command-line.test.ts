import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { useStack } from '@sluice/testing';
import { mainFile, openCommandLine, runSluice } from './open-command-line.ts';

const world = useStack(openCommandLine);
const profiles = () => join(world.current.env.XDG_CONFIG_HOME, 'sluice/profiles.json');

describe('login', () => {
  test('stores the keys of a platform, and shows none', async () => {
    const { login, platform, json } = world.current;
    const stderr = `Stored management and private key in the profile default (${profiles()})\n`;
    expect(login).toEqual({ code: 0, stdout: '', stderr });
    expect(await json(['profiles'])).toEqual([
      { name: 'default', url: platform.stack.baseUrl, header_prefix: 'SVC', keys: ['management', 'private'] },
    ]);
  });
});

describe('tokens, keys and lists', () => {
  test('each command takes the key that can do it: a token, created, read, and deleted', async () => {
    const { sluice, json } = world.current;
    const body = { type: 'card', data: { number: '4242424242424242' } };
    const token = await json(['tokens', 'create', '--data', JSON.stringify(body)]);
    expect(token).toMatchObject({ type: 'card' });
    const shown = { id: token.id, data: { number: 'XXXXXXXXXXXX4242' } };
    expect(await json(['tokens', 'get', token.id])).toMatchObject(shown);
    expect((await json(['tokens', 'list', '--id', token.id])).data).toHaveLength(1);
    expect(await sluice(['tokens', 'delete', token.id])).toEqual({ code: 0, stdout: '', stderr: '' });
    const gone = await sluice(['tokens', 'get', token.id]);
    expect(gone).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('status 404') });
  });

  test('a token is bound by create and bound tighter by patch, each with use as JSON', async () => {
    const { json, sluice } = world.current;
    const token = await json(['tokens', 'create', '-d', '{"data":"v","use":{"max_uses":3}}']);
    expect(token).toMatchObject({ use: { max_uses: 3 }, uses: 0 });
    const use = { methods: ['POST'], max_uses: 1 };
    expect(await json(['tokens', 'patch', token.id, '-d', JSON.stringify({ use })])).toMatchObject({ use, uses: 0 });
    expect(await json(['tokens', 'get', token.id])).toMatchObject({ use, uses: 0 });
    const refused = await sluice(['tokens', 'create', '-d', '{"data":"v","use":{"max_uses":0}}']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('use.max_uses must be at least 1') });
  });

  test('a list with --all is one item a line, over all pages', async () => {
    const { json, sluice } = world.current;
    for (const name of ['many 0', 'many 1', 'many 2']) {
      const body = { name, type: 'public', permissions: ['token:create'] };
      await json(['applications', 'create', '-d', JSON.stringify(body)]);
    }
    const { stdout } = await sluice(['applications', 'list', '--all', '--size', '2']);
    const names = Array.from(stdout.matchAll(/.+/g), ([line]) => JSON.parse(line).name);
    expect(names).toEqual(expect.arrayContaining(['many 0', 'many 1', 'many 2', 'cli backend']));
    expect(new Set(names).size).toBe(names.length);
    expect((await json(['applications', 'list', '--size', '2'])).data).toHaveLength(2);
  });
});

describe('Proxies and their log', () => {
  test('proxies invoke finds the Proxy by name, and leaves with 1 where the destination was not reached', async () => {
    const { platform, destination, json, sluice } = world.current;
    await platform.createProxy({ name: 'cli echo', destination_url: `${destination.url}/base` });
    const token = await json(['tokens', 'create', '-d', '{"data":"4111111111111111"}']);
    const sent = ['-d', `{"card":"{{ ${token.id} }}"}`, '-H', 'Authorization: theirs', '-i'];
    const { code, stderr } = await sluice(['proxies', 'invoke', 'cli echo', '/charges?x=1', ...sent]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('svc-proxy-destination-status: 200')]);
    expect(destination.seen.at(-1)).toEqual({
      path: '/base/charges?x=1',
      authorization: 'theirs',
      body: '{"card":"4111111111111111"}',
    });
    const nobody = await sluice(['proxies', 'invoke', 'nobody']);
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('no Proxy named nobody') });
    const env = { SLUICE_PROXY_KEY: 'A'.repeat(32) };
    const unknown = await sluice(['proxies', 'invoke', '-', '-d', '{"a":"{{ nothing }}"}'], { env });
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('404 is from Sluice') });
  });

  test('proxies test runs the transform in the sandbox', async () => {
    const { write, json, sluice } = world.current;
    const body = 'console.log("hello"); return { body: { ...args.body, ...configuration } };';
    await write('good.js', `module.exports = async ({ args, configuration }) => { ${body} };`);
    await write('bad.js', 'module.exports = async () => { throw new Error("no"); };');
    await write('body.js', 'module.exports = async ({ args }) => args.body;');
    await write('broken.js', 'module.exports = async (');
    await write('args.json', { body: { a: 1 } });
    await write('configuration.json', { b: '2' });
    const files = ['--args', 'args.json', '--configuration', 'configuration.json'];
    expect(await json(['proxies', 'test', 'good.js', ...files])).toMatchObject({
      result: { body: { a: 1, b: '2' } },
      console: [{ text: 'hello' }],
    });
    for (const [file, expected] of Object.entries({
      'bad.js': { code: 1, stdout: expect.stringContaining('Transform failed') },
      'broken.js': { code: 1, stderr: expect.stringContaining('line 1') },
      'missing.js': { code: 2, stderr: 'missing.js cannot be read (ENOENT)\n' },
    })) {
      expect(await sluice(['proxies', 'test', file])).toMatchObject(expected);
    }
    const { code, stdout } = await sluice(['proxies', 'test', 'body.js', '--args', 'args.json']);
    expect([code, JSON.parse(stdout).error.detail]).toEqual([
      1,
      expect.stringContaining('an object with "a"; it must'),
    ]);
  });

  test('logs tail shows what is there and what comes, each row once, until Ctrl-C', async () => {
    const { platform, env, destination } = world.current;
    for (const name of ['older', 'newest']) await platform.createProxy({ name, destination_url: destination.url });
    const child = spawn(process.execPath, [mainFile, 'logs', 'tail', '--entity-type', 'proxy', '--last', '1'], { env });
    const rows: { id: string; entity_id: string; operation: string; created_at: string }[] = [];
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => rows.push(JSON.parse(line)));
    await once(lines, 'line');
    const { id } = await platform.createProxy({ name: 'tailed', destination_url: destination.url });
    await platform.manage('DELETE', `/proxies/${id}`);
    const ofProxy = () => rows.filter(({ entity_id }) => entity_id === id).map(({ operation }) => operation);
    while (!ofProxy().includes('delete')) await once(lines, 'line');
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
    expect(ofProxy()).toEqual(['create', 'delete']);
    expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length);
    expect(rows.filter(({ created_at }) => created_at < (rows[0]?.created_at ?? ''))).toEqual([]);
  });
});

describe('what went wrong', () => {
  test('what the service refuses is told with where and what to do, and leaves with 1', async () => {
    const { sluice, platform, backend } = world.current;
    const refused = await sluice(['applications', 'create', '-d', '{"name":"x","type":"robot"}']);
    const message = /type must be one of private, public, management.*status 400, trace /;
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
    const env = { SLUICE_URL: platform.stack.baseUrl, SLUICE_API_KEY: backend.key };
    const forbidden = await runSluice(['proxies', 'list'], { env });
    expect(forbidden).toMatchObject({ code: 1, stderr: expect.stringContaining('proxy:read') });
  });
});
