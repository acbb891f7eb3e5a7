import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { queryOnce, useStack } from '@sluice/testing';
import { Redis } from 'ioredis';
import { startPlatform } from '../platform.ts';
import { countKinds } from '../under-load/count.ts';
import { type Canaries, randomCanaries } from './canaries.ts';
import {
  monitorRedis,
  searchCommandLines,
  searchFiles,
  searchLogs,
  searchMetrics,
  searchPostgres,
  searchRedis,
} from './places.ts';
import { recordingClient } from './recording-client.ts';
import { invoke } from './scenes/invocations.ts';
import { manage, sendMalformed } from './scenes/proxies.ts';
import { react } from './scenes/reactors.ts';
import { runReactors } from './scenes/runs.ts';
import { useSession } from './scenes/sessions.ts';
import { createTokens, refuseTokens, useTokens } from './scenes/tokens.ts';
import { transform } from './scenes/transforms.ts';
import { startScriptedDestination } from './scripted-destination.ts';
import { canaryFinder, type Finder, type Hit } from './search/finder.ts';
import { createApplication, type Stage, secretPartOf } from './stage.ts';

const services = ['management-api', 'token-vault', 'proxy-gateway', 'worker', 'ingress'];
const everyPermission = ['create', 'update', 'read', 'search', 'delete', 'use'].map((name) => `token:${name}`);

const world = useStack(async (closing) => {
  const { stack, directory } = await startPlatform(closing, {
    environment: {
      LOG_LEVEL: 'trace',
      SWEEP_INTERVAL_MS: '500',
      DESTINATION_HEAD_TIMEOUT_MS: '300',
      TRANSFORM_CPU_MS: '300',
    },
  });
  const commands = await monitorRedis(stack.redisUrl, closing);
  const destination = await startScriptedDestination(closing);
  return { stack, commands, destination, directory };
});

type World = typeof world.current;

test('no secret is anywhere but where it belongs', async () => {
  const { stack, commands, directory } = world.current;
  const canaries = randomCanaries();
  await addOwnSecrets(canaries, directory, [stack.databaseUrl, stack.redisUrl]);
  const stage = await perform(canaries, world.current);
  const { client } = stage;
  await plant(stage, world.current);
  const finder = canaryFinder(canaries.all);
  client.searchAnswers(finder);
  await searchPostgres(stack.databaseUrl, finder);
  await searchRedis(stack.redisUrl, commands(), finder);
  await searchCommandLines(stack, finder);
  await searchMetrics(directory, services, finder);
  await stack.close();
  await appendFile(join(directory, 'logs', 'worker.log'), JSON.stringify({ msg: canaries.text('planted') }));
  await searchLogs(directory, finder);
  await searchFiles(directory, finder);
  print(finder, canaries, client.statuses);

  const describe = ({ where, canary, form, around }: Hit) => `${where}\n  ${canary}, ${form}: ${around}`;
  expect(finder.hits.filter(({ canary }) => canary !== 'planted').map(describe)).toEqual([]);
  // The negative control: the same search finds what was put there.
  const found = finder.hits.filter(({ canary }) => canary === 'planted').map(({ where }) => where);
  const column = 'Postgres, columns: public.tenants.name';
  for (const place of ['answers', column, 'Redis, keys', 'Redis, commands', 'log of worker', 'files']) {
    expect(found).toContainEqual(expect.stringMatching(`^${place}`));
  }
});

async function perform(canaries: Canaries, { stack, destination }: World): Promise<Stage> {
  const client = recordingClient(stack.baseUrl);
  const managementKey = stack.credentials.management_key;
  canaries.add('management key', secretPartOf(managementKey));
  const opening = { client, canaries, managementKey };
  const reveal = { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions: everyPermission };
  const revealing = await createApplication(opening, 'revealing', { rules: [reveal] });
  const masking = await createApplication(opening, 'masking', { permissions: everyPermission });
  const stage: Stage = { ...opening, destination, revealing, masking };
  const tokens = await createTokens(stage);
  await useTokens(stage, tokens);
  await refuseTokens(stage, tokens);
  await useSession(stage, tokens);
  await manage(stage);
  await invoke(stage, tokens);
  await transform(stage, tokens);
  await react(stage, tokens);
  await runReactors(stage);
  await sendMalformed(stage, [stack.baseUrl, ...Object.values(stack.serviceUrls)]);
  await wait(1500); // logs are written twice a second, audit rows ten times

  return stage;
}

async function addOwnSecrets({ add }: Canaries, directory: string, urls: readonly string[]): Promise<void> {
  const secrets = JSON.parse(await readFile(join(directory, 'secrets.json'), 'utf8'));
  for (const [name, value] of Object.entries<string>(secrets)) add(name, value);
  for (const url of urls) add(`password of ${new URL(url).protocol}`, decodeURIComponent(new URL(url).password));
}

/** Puts a canary where none may be: a column, with it an answer, and Redis. Each in another form. */
async function plant({ client, canaries, managementKey }: Stage, { stack }: World): Promise<void> {
  const value = canaries.text('planted');
  const inBase64 = Buffer.from(`a ${value}`).toString('base64');
  await queryOnce(stack.databaseUrl, 'update tenants set name = $1', [inBase64]);
  expect((await client.send('GET', '/tenants/self', { key: managementKey })).json.name).toBe(inBase64);
  const redis = new Redis(stack.redisUrl);
  await redis.hset('planted', 'field', encodeURIComponent(value)).finally(() => redis.disconnect());
}

function print({ searched, hits }: Finder, { all }: Canaries, statuses: readonly number[]): void {
  const lines = [
    `${all.length} canaries; answers: ${countKinds(statuses)}`,
    ...Array.from(searched, ([place, { items, bytes }]) => {
      const found = hits.filter(({ where, canary }) => where.startsWith(`${place}:`) && canary !== 'planted').length;
      return `  ${place.padEnd(26)}${String(items).padStart(6)} items ${String(bytes).padStart(10)} bytes ${found} hits`;
    }),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
