import { Sluice } from '@sluice/sdk';
import type { Credentials } from '../../stack/credentials.ts';
import { requestTransform, responseTransform } from '../scenario.ts';

interface SetUpOptions {
  credentials: Credentials;
  headerPrefix: string;
  stack: AsyncDisposableStack;
  /** Where the shop's page is. */
  shopOrigin: string;
  chargesUrl: string;
}

/** Objects that a shop needs on the platform. All of them are deleted when the stack is disposed. */
export async function setUp({ credentials, headerPrefix, stack, shopOrigin, chargesUrl }: SetUpOptions) {
  const baseUrl = credentials.base_url;
  const management = new Sluice({ baseUrl, apiKey: credentials.management_key, headerPrefix });
  const page = await management.applications.create({
    name: 'Demo shop, in the page',
    type: 'public',
    permissions: ['token:create'],
    allowed_origins: [shopOrigin],
  });
  stack.defer(() => management.applications.delete(page.id));
  const server = await management.applications.create({
    name: 'Demo shop, on its server',
    type: 'private',
    permissions: ['token:create', 'token:use', 'token:delete'],
    rules: [{ priority: 1, container: '/pci/high/', transform: 'reveal', permissions: ['token:read'] }],
  });
  stack.defer(() => management.applications.delete(server.id));
  const proxy = await management.proxies.create({
    name: 'Demo shop, processor',
    destination_url: chargesUrl,
    application: { id: server.id },
    configuration: { PROCESSOR_SECRET: 'demo-secret' },
    request_transform: { code: requestTransform },
    response_transform: { code: responseTransform },
  });
  stack.defer(() => management.proxies.delete(proxy.id));
  return { page, proxy, backend: new Sluice({ baseUrl, apiKey: server.key, headerPrefix }) };
}
