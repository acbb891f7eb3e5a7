import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Stack } from '@sluice/local';

const execute = promisify(execFile);
const command = join(import.meta.dirname, '../../../../services/management-api/src/tenants/tenant.command.ts');

/** A part of the names of `named` Proxies, in any case, and of no other name. */
export const namePart = 'q7zk';
const named = 50;

/** A Tenant whose lists are measured; what they show was created through the public interface. */
export interface ListTenant {
  tenantId: string;
  headers: { 'SVC-API-KEY': string };
  applicationId: string;
  proxyId: string;
  /** The number of each so far. */
  counts: { applications: number; proxies: number };
}

/** @param stackDirectory the folder of the stack's `environment`. */
export async function createListTenant(stack: Stack, stackDirectory: string, signal: AbortSignal): Promise<ListTenant> {
  const args = [`--env-file=${join(stackDirectory, 'environment')}`, command, 'create', '--name', 'Lists', '--json'];
  const { stdout } = await execute(process.execPath, args, { env: {}, signal });
  const { tenant_id: tenantId, management_key: key, application_id: applicationId } = JSON.parse(stdout);
  const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
  const post = async (path: string, body: object): Promise<string> => {
    const options = { method: 'POST', headers, body: JSON.stringify(body), signal };
    const answer = await fetch(stack.serviceUrls.managementApi + path, options);
    if (!answer.ok) throw new Error(`POST ${path} was answered with ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { id: string }).id;
  };
  const applications = [applicationId];
  const proxies: string[] = [];
  for (let n = 0; n < named; n++) {
    const id = await post('/applications', { name: 'Checkout', type: 'private', permissions: ['token:use'] });
    applications.push(id);
    proxies.push(
      await post('/proxies', {
        name: `Orders of merchant M${n}${namePart}X`,
        destination_url: 'https://example.com/orders',
        configuration: { region: 'eu', merchant: `M${n}` },
        application: { id },
      }),
    );
  }
  return {
    tenantId,
    headers: { 'SVC-API-KEY': key },
    applicationId: applications[10] ?? '',
    proxyId: proxies[10] ?? '',
    counts: { applications: applications.length, proxies: proxies.length },
  };
}
