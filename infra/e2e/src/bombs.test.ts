import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { listen } from '@sluice/service-runtime';
import { call } from '@sluice/testing';
import { type Platform, startPlatform } from './platform.ts';
import { memoryOf, watchFigure } from './under-load/process-state.ts';

jest.setTimeout(240_000);

const tenantCommand = resolve(import.meta.dirname, '../../../services/management-api/src/tenants/tenant.command.ts');
const mebibyte = 2 ** 20;
/** What the manifests give a gateway. */
const memoryLimit = 1024 * mebibyte;

const most = 5 * mebibyte;
const bombs = {
  text: { type: 'application/json', body: gzipSync(JSON.stringify('x'.repeat(most - 2))) },
  list: { type: 'application/json', body: gzipSync(`[${'0,'.repeat(most / 2 - 2)}0]`) },
  form: { type: 'application/x-www-form-urlencoded', body: gzipSync('=&'.repeat(most / 2)) },
};
const answerBomb = gzipSync(JSON.stringify('y'.repeat(most - 2)));
const transform = { code: 'module.exports = async ({ args }) => ({ body: args.body })' };

/** Answers a GET with 5 MiB in a few bytes, anything else with `{}`. */
async function startDestination(stack: AsyncDisposableStack): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const isBomb = request.method === 'GET';
    response.writeHead(200, { 'Content-Type': 'application/json', ...(isBomb && { 'Content-Encoding': 'gzip' }) });
    request.on('end', () => response.end(isBomb ? answerBomb : '{}'));
  });
  return `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0, stack })}`;
}

async function createTenant(platform: Platform): Promise<string> {
  const file = `--env-file=${resolve(platform.directory, 'environment')}`;
  const args = [file, tenantCommand, 'create', '--name', 'Hostile', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} });
  return JSON.parse(stdout).management_key;
}

interface Attacked {
  /** Most that the gateway had resident, in bytes. */
  peakBytes: number;
  /** Of the good Tenant, which asks again and again while the others' bombs come. */
  goodStatuses: number[];
  /** How many bombs got each status. */
  bombStatuses: Record<number, number>;
}

/** Three Tenants keep 40 bombs each under way, until 48 of each Tenant are answered; a fourth does what it always does. */
async function attack(settings: Record<string, string>): Promise<Attacked> {
  await using closing = new AsyncDisposableStack();
  const platform = await startPlatform(closing, { environment: settings });
  const destination_url = await startDestination(closing);
  const { proxyGateway, managementApi } = platform.stack.serviceUrls;
  const good = await platform.createProxy({ destination_url, require_auth: false, request_transform: transform });
  const hostile = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const key = await createTenant(platform);
      const body = {
        name: 'P',
        destination_url,
        require_auth: false,
        request_transform: transform,
        response_transform: transform,
      };
      return (await call(managementApi, 'POST', '/proxies', { key, body })).body.key as string;
    }),
  );
  const memory = watchFigure(() =>
    memoryOf({ name: 'proxy-gateway', pid: platform.stack.processes.get('proxy-gateway')?.pid }),
  );
  const bombStatuses: Record<number, number> = {};
  let isOver = false;
  const bombard = async (proxyKey: string) => {
    const kinds = [...Object.values(bombs), undefined];
    let sent = 0;
    const one = async () => {
      while (sent < 48) {
        const bomb = kinds[sent++ % kinds.length];
        const headers = {
          'SVC-PROXY-KEY': proxyKey,
          ...(bomb && { 'Content-Type': bomb.type, 'Content-Encoding': 'gzip' }),
        };
        const answer = await fetch(`${proxyGateway}/proxy`, {
          headers,
          ...(bomb && { method: 'POST', body: new Uint8Array(bomb.body) }),
        });
        await answer.arrayBuffer();
        bombStatuses[answer.status] = (bombStatuses[answer.status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 40 }, one));
  };
  const goodStatuses: number[] = [];
  const ask = async () => {
    while (!isOver) {
      const headers = { 'SVC-PROXY-KEY': good.key };
      goodStatuses.push((await call(proxyGateway, 'POST', '/proxy', { headers, body: { amount: 1 } })).status);
    }
  };
  const asking = ask();
  await Promise.all(hostile.map(bombard));
  isOver = true;
  await asking;
  return { peakBytes: (await memory.stop()).peak * mebibyte, goodStatuses, bombStatuses };
}

test('bombs of three Tenants leave a gateway below its memory, and a fourth Tenant is answered as ever', async () => {
  const { peakBytes, goodStatuses, bombStatuses } = await attack({
    BODY_HELD_BYTES: `${Math.floor(0.4 * memoryLimit)}`,
  });
  expect(peakBytes).toBeLessThan(memoryLimit);
  expect(new Set(goodStatuses)).toEqual(new Set([200]));
  expect(goodStatuses.length).toBeGreaterThan(20);
  // Served, refused as too much for the sandbox, or told to come again; never cut off.
  for (const status of Object.keys(bombStatuses)) expect(['200', '400', '500', '502', '503']).toContain(status);
});

test('the control: without that bound the same bombs take more', async () => {
  const { peakBytes } = await attack({ BODY_HELD_BYTES: `${64 * memoryLimit}` });
  expect(peakBytes).toBeGreaterThan(memoryLimit);
});
