import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openTemporaryFolder, serveHttp, useStack } from '@sluice/testing';
import { sharePlatform } from '../platform.ts';
import { runGit, serveGit } from './git-server.ts';

const theirs = Buffer.from('x-access-token:theirs').toString('base64');
const largeBytes = 50 * 1024 * 1024;

/** Debian's git over HTTP: a key of Sluice is the password, and the Proxy sets that of the destination. */
const world = useStack(async (closing) => {
  const platform = await sharePlatform();
  const folder = await openTemporaryFolder(closing, 'git');
  const served = join(folder, 'served');
  await mkdir(served);
  await runGit(['init', '--bare', '--initial-branch=main', 'shop.git'], served);
  const lines: string[] = [];
  const destination_url = await serveHttp(closing, (request, response) => {
    lines.push(`${request.method} ${request.url}`);
    if (request.headers.authorization !== `Basic ${theirs}`) response.writeHead(401).end();
    else serveGit(served, request, response);
  });
  await platform.createProxy({
    ...{ destination_url, path_name: 'git', accept_key_as: ['basic'], configuration: { KEY: theirs } },
    request_headers: { Authorization: 'Basic {{ config: KEY }}' },
  });
  const { key } = await platform.createApplication({ permissions: ['token:use'] });
  return { folder, served, lines, key, baseUrl: platform.stack.baseUrl };
});

const remote = (password: string) =>
  `${world.current.baseUrl.replace('//', `//x-access-token:${password}@`)}/routes/git/shop.git`;

test('pushes 50 MiB and clones them', async () => {
  const { folder, served, key, lines } = world.current;
  const [mine, clone] = [join(folder, 'mine'), join(folder, 'clone')];
  await runGit(['init', '--initial-branch=main', mine], folder);
  await writeFile(join(mine, 'large'), randomBytes(largeBytes));
  await runGit(['add', 'large'], mine);
  await runGit(['commit', '--quiet', '-m', 'a'], mine);
  await runGit(['push', '--quiet', remote(key), 'main'], mine);
  const head = await runGit(['rev-parse', 'main'], mine);
  expect(await runGit(['rev-parse', 'main'], join(served, 'shop.git'))).toBe(head);
  await runGit(['clone', '--quiet', remote(key), clone], folder);
  expect(await runGit(['rev-parse', 'HEAD'], clone)).toBe(head);
  expect(Number(await runGit(['cat-file', '-s', 'HEAD:large'], clone))).toBe(largeBytes);
  expect(lines).toEqual(expect.arrayContaining(['POST /shop.git/git-receive-pack', 'POST /shop.git/git-upload-pack']));
});

test('a wrong key is its own refusal, and nothing is asked of the destination', async () => {
  const { folder, lines, key } = world.current;
  lines.length = 0;
  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  const cloning = runGit(['clone', remote(wrong), join(folder, 'none')], folder);
  await expect(cloning).rejects.toMatchObject({ code: 128, stderr: expect.stringContaining('Authentication failed') });
  expect(lines).toEqual([]);
});
