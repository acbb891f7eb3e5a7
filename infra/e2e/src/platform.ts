import { type Credentials, type StackOptions, startStack } from '@sluice/local';
import { Sluice } from '@sluice/sdk';
import { type CallOptions, call, openStoresFolder, programEnvironment, queryOnce, workerStack } from '@sluice/testing';
import { type Processes, type Site, type SiteOptions, startSite } from './cluster/site.ts';
import { runProgram } from './run-program.ts';

export interface Created {
  id: string;
  key: string;
}

/** The whole platform as `npm start` runs it, on a folder and ports of its own, and a client for its one base URL. */
export type Platform = Awaited<ReturnType<typeof launch>>;

export type TenantClient = ReturnType<typeof clientOf>;

/** Settings for every service, and stores other than the usual ones. */
type LaunchOptions = Pick<StackOptions, 'environment' | 'redisUrl' | 'postgresSettings' | 'openPooler'> & {
  processes?: undefined;
};

/**
 * Starts the platform: each service once behind the ingress, as `npm start` runs them, or the named processes, each with
 * chaos proxies of its own before both stores. It ends with the stack, and with this process.
 */
export function startPlatform(closing: AsyncDisposableStack, options?: LaunchOptions): Promise<Platform>;
export function startPlatform(
  closing: AsyncDisposableStack,
  options: SiteOptions & { processes: Processes },
): Promise<Site>;
export function startPlatform(
  closing: AsyncDisposableStack,
  options: LaunchOptions | (SiteOptions & { processes: Processes }) = {},
): Promise<Platform | Site> {
  return options.processes ? startSite(closing, options) : launch(closing, options);
}

async function launch(closing: AsyncDisposableStack, options: LaunchOptions) {
  const directory = await openStoresFolder(closing, 'e2e');
  // The object is handed on as it is, because a deployment in a runbook changes it.
  const { environment = {}, ...stores } = options;
  Object.assign(environment, { ...programEnvironment(), ...environment });
  const stack = await startStack({ directory, port: 0, log: () => {}, environment, ...stores });
  closing.defer(() => stack.close());
  return {
    stack,
    directory,
    query: <T extends object>(text: string, values?: readonly unknown[]) =>
      queryOnce<T>(stack.databaseUrl, text, values),
    ...clientOf(stack.baseUrl, stack.credentials.management_key),
  };
}

const tenantCommand = 'services/management-api/src/tenants/tenant.command.ts';
const consoleCommand = 'services/management-api/src/people/sign-ins/console.command.ts';

/** Creates one more Tenant. */
export async function createTenant({ directory, stack }: Pick<Platform, 'directory' | 'stack'>): Promise<Credentials> {
  const { stdout } = await runProgram(tenantCommand, ['create', '--name', 'Local', '--json'], { directory });
  return { base_url: stack.baseUrl, ...JSON.parse(stdout) };
}

/** A link with which an OWNER of the Tenant signs in to the console once. */
async function createSignInLink({ directory }: Platform, tenantId: string): Promise<string> {
  const { stdout } = await runProgram(consoleCommand, ['link', '--tenant', tenantId], { directory });
  return stdout.trim();
}

let shared: Promise<Platform> | undefined;

/**
 * A new Tenant on a platform with the usual settings, which all test files of one Jest worker share. A test that
 * changes a setting, ends a process or reads others' rows needs `startPlatform`.
 */
export async function sharePlatform(): Promise<Platform> {
  shared ??= startPlatform(workerStack);
  const platform = await shared;
  const credentials = await createTenant(platform);
  return {
    ...platform,
    stack: { ...platform.stack, credentials, signInLink: () => createSignInLink(platform, credentials.tenant_id) },
    ...clientOf(platform.stack.baseUrl, credentials.management_key),
  };
}

/** For the Tenant whose management key this is. */
export function clientOf(baseUrl: string, key: string) {
  const sluice = new Sluice({ baseUrl, apiKey: key });
  return {
    call: (method: string, path: string, options?: CallOptions) => call(baseUrl, method, path, options),
    /** With the management key. */
    manage: (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      call(baseUrl, method, path, { key, ...(body !== undefined && { body }), ...(headers && { headers }) }),
    /** The library, with the management key. */
    sluice,
    createApplication: (body: object): Promise<Created> =>
      sluice.applications.create({ type: 'private', name: 'A', ...body }),
    createProxy: (body: object): Promise<Created> => sluice.proxies.create({ name: 'P', destination_url: '', ...body }),
  };
}
