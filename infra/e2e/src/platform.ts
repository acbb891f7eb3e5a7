import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stack, startStack } from '@sluice/local';
import { Sluice } from '@sluice/sdk';
import { type CallOptions, call } from '@sluice/testing';

export interface Created {
  id: string;
  key: string;
}

/** The whole platform as `npm start` runs it, on a folder and ports of its own, and a client for its one base URL. */
export interface Platform {
  stack: Stack;
  /** With its secrets, credentials and logs. */
  directory: string;
  call(method: string, path: string, options?: CallOptions): ReturnType<typeof call>;
  /** With the management key. */
  manage(method: string, path: string, body?: unknown, headers?: Record<string, string>): ReturnType<typeof call>;
  /** The library, with the management key. */
  sluice: Sluice;
  createApplication(body: object): Promise<Created>;
  createProxy(body: object): Promise<Created>;
}

export async function startPlatform(
  closing: AsyncDisposableStack,
  environment: Record<string, string> = {},
  redisUrl?: string,
): Promise<Platform> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  closing.defer(() => rm(directory, { recursive: true, force: true }));
  const { PATH = '' } = process.env;
  const stack = await startStack({
    directory,
    port: 0,
    log: () => {},
    redisUrl,
    environment: { PATH, ...environment },
  });
  closing.defer(() => stack.close());
  const { baseUrl, credentials } = stack;
  const manage: Platform['manage'] = (method, path, body, headers) =>
    call(baseUrl, method, path, {
      key: credentials.management_key,
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    });
  const sluice = new Sluice({ baseUrl, apiKey: credentials.management_key });
  return {
    stack,
    directory,
    manage,
    call: (method, path, options) => call(baseUrl, method, path, options),
    sluice,
    createApplication: (body) => sluice.applications.create({ type: 'private', name: 'A', ...body }),
    createProxy: (body) => sluice.proxies.create({ name: 'P', destination_url: '', ...body }),
  };
}
