import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { gzipSync } from 'node:zlib';
import { allocatorEnvironment, nodeOptions } from '@sluice/local';
import { freePort, localUrl, repositoryRoot, stopChild, untilReady } from '@sluice/local/parts';
import { hostileModule, hostilePrograms } from '@sluice/sandbox/hostile';
import { eventually, serveHttp } from '@sluice/testing';
import { clientOf, createTenant, type Platform, startPlatform, type TenantClient } from '../platform.ts';
import { startRepeating } from '../under-load/clients.ts';
import { countKinds } from '../under-load/count.ts';
import { type Ask, mebibyte, passing, statusOf } from '../under-load/hostile-tenants.ts';
import { sampleProcess, watchMemory } from '../under-load/process-state.ts';
import { openMemoryGroup } from './memory-group.ts';

/** Of the gateway's manifest (infra/kubernetes/base/proxy-gateway.yaml), in MiB. */
const memoryLimit = 1536;
const idlePart = 0.5;
const tenants = 3;
/** Requests of one Tenant under way. */
const atOnce = 8;
/** Shorter than by default, so that all programs together take two minutes. */
const settings = { TRANSFORM_CPU_MS: '500', TRANSFORM_WALL_MS: '5000', BODY_WAIT_MS: '3000' };

/** An instance that stays warm and keeps this much memory. */
const keeper = {
  code: `const kept = new Uint8Array(${30 * mebibyte}).fill(7); module.exports = () => ({ raw: kept[9] })`,
};
const keepers = 12;
/** It has called the client, so it cannot begin again in a slow thread. */
const bombAfterCall = {
  code: hostileModule(
    'await req.svc?.tokenize("x").catch(() => 0); const all = []; for (;;) all.push(new ArrayBuffer(2 ** 20))',
  ),
};
const json = { 'Content-Type': 'application/json' };
const large = JSON.stringify('x'.repeat(5 * mebibyte - 2));
const packed = new Uint8Array(gzipSync(large));

/** A gateway beside that of the platform, in a memory group if the machine has them. */
async function startGateway({ directory }: Platform, closing: AsyncDisposableStack) {
  const group = await openMemoryGroup(closing, memoryLimit * mebibyte);
  const [port, adminPort] = [await freePort(), await freePort()];
  const [name, logFile] = ['gateway', join(directory, 'gateway-in-group.log')];
  await using log = await open(logFile, 'w', 0o600);
  const program = join(repositoryRoot, 'services/proxy-gateway/src/main.ts');
  const [command = '', ...args] = [...(group ?? []), process.execPath, ...nodeOptions, program];
  const child = spawn(command, args, {
    env: {
      ...allocatorEnvironment,
      ...parseEnv(await readFile(join(directory, 'environment'), 'utf8')),
      ...{ HOST: '127.0.0.1', PORT: `${port}`, ADMIN_HOST: '127.0.0.1', ADMIN_PORT: `${adminPort}` },
      ...{ DESTINATION_SCHEMES: 'http', DESTINATION_ALLOW: 'loopback', STOP_WHEN_STDIN_CLOSES: 'true' },
      DISCLOSURE_SPOOL_DIRECTORY: join(directory, 'spool-of-gateway'),
      // Without a group the process cannot know the limit.
      ...(!group && {
        BODY_HELD_BYTES: `${Math.floor(0.4 * memoryLimit * mebibyte)}`,
        TRANSFORM_WARM_BYTES: `${Math.floor((memoryLimit * mebibyte) / 6)}`,
      }),
      ...settings,
    },
    stdio: ['pipe', log.fd, log.fd],
  });
  await once(child, 'spawn');
  closing.defer(() => stopChild(child, 'SIGTERM', 30_000));
  await untilReady(child, { name, adminPort, logFile });
  return { url: localUrl(port), pid: child.pid, isInGroup: group !== undefined };
}

/** A Tenant's part of the hostile programs as transforms and as reactors, instances that keep much, and large bodies. */
async function hostileRequests(
  tenant: TenantClient,
  { number, gateway, destination_url }: { number: number; gateway: string; destination_url: string },
): Promise<Ask[]> {
  const { key, id } = await tenant.createApplication({ permissions: ['token:create', 'token:use'] });
  const application = { application: { id } };
  const invoking = async (transforms: object, body: string | Uint8Array<ArrayBuffer> = '{}'): Promise<Ask> => {
    const proxy = await tenant.createProxy({ destination_url, require_auth: false, ...transforms });
    const coded = typeof body === 'string' ? {} : { 'Content-Encoding': 'gzip' };
    const headers = { 'SVC-PROXY-KEY': proxy.key, ...json, ...coded };
    return () => statusOf(`${gateway}/proxy`, { method: 'POST', headers, body });
  };
  const reacting = async (reactor: object): Promise<Ask> => {
    const { body } = await tenant.manage('POST', '/reactors', { name: 'R', ...reactor });
    const headers = { 'SVC-API-KEY': key, ...json };
    return () => statusOf(`${gateway}/reactors/${body.id}/react`, { method: 'POST', headers, body: '{}' });
  };
  const both = { request_transform: passing, response_transform: passing };
  const asks = [await invoking(both, large), await invoking(both, packed)];
  for (let count = 0; count < keepers; count += 1) {
    asks.push(await invoking({ request_transform: keeper }), await reacting(keeper));
    asks.push(await invoking({ ...application, request_transform: bombAfterCall }));
    asks.push(await reacting({ ...application, ...bombAfterCall }));
  }
  const often = asks.length;
  for (const [index, statements] of Object.values(hostilePrograms).entries()) {
    if (index % tenants !== number) continue;
    const code = hostileModule(statements);
    asks.push(await invoking({ request_transform: { code } }), await reacting({ code }), asks[index % often] as Ask);
  }
  return asks;
}

test('a gateway stays within the memory of its manifest under hostile code, serves others, and gives memory back', async () => {
  await using closing = new AsyncDisposableStack();
  const platform = await startPlatform(closing);
  const gateway = await startGateway(platform, closing);
  const destination = await serveHttp(closing, (request, response) => {
    request.resume().on('end', () => response.writeHead(200, json).end('{}'));
  });
  const hostile: Ask[][] = [];
  for (let number = 0; number < tenants; number += 1) {
    const { base_url, management_key } = await createTenant(platform);
    const place = { number, gateway: gateway.url, destination_url: destination };
    hostile.push(await hostileRequests(clientOf(base_url, management_key), place));
  }
  const good = await platform.createProxy({ destination_url: destination, require_auth: false });
  const askGood = () =>
    statusOf(`${gateway.url}/proxy`, { method: 'POST', headers: { 'SVC-PROXY-KEY': good.key, ...json }, body: '{}' });

  const memory = watchMemory({ name: 'gateway', pid: gateway.pid });
  const [statuses, goodStatuses]: [number[], number[]] = [[], []];
  const asking = startRepeating(1, async () => {
    goodStatuses.push(await askGood());
  });
  const attack = async (asks: Ask[]) => {
    const waiting = asks.values();
    const one = async () => {
      for (const ask of waiting) statuses.push(await ask());
    };
    await Promise.all(Array.from({ length: atOnce }, one));
  };
  await Promise.race([Promise.all(hostile.map(attack)), asking.broken]);
  await asking.stop();
  const { before, peak } = await memory.stop();
  const now = async () => (await sampleProcess({ name: 'gateway', pid: gateway.pid })).memory;
  const figures = [before, peak, await now()].map((mebibytes) => mebibytes.toFixed()).join(', ');
  const answers = `hostile ${countKinds(statuses)}, good ${countKinds(goodStatuses)}`;
  console.info(`${gateway.isInGroup ? 'in a group' : 'in no group'}; before, peak, after: ${figures} MiB; ${answers}`);
  expect(new Set(goodStatuses)).toEqual(new Set([200]));
  if (gateway.isInGroup) expect(peak).toBeLessThan(memoryLimit);
  await eventually('idle threads give their memory back', async () => (await now()) < idlePart * memoryLimit);
  expect(await askGood()).toBe(200);
  console.info(`later ${(await now()).toFixed()} MiB`);
});
