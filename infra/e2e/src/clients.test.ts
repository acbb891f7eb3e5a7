import { startDestination, useStack } from '@sluice/testing';
import { clients } from '@sluice/testing/clients';
import { sharePlatform } from './platform.ts';

const world = useStack(async (closing) => {
  const [platform, destination] = [await sharePlatform(), await startDestination(closing)];
  const application = await platform.createApplication({ permissions: ['token:create', 'token:read', 'token:use'] });
  const proxy = await platform.createProxy({ destination_url: destination.url });
  const own = { 'SVC-API-KEY': application.key };
  const manager = { 'SVC-API-KEY': platform.stack.credentials.management_key };
  // One for each service.
  const calls: [method: string, path: string, headers: Record<string, string>, body: object | undefined][] = [
    ['POST', '/proxy', { ...own, 'SVC-PROXY-KEY': proxy.key }, { a: 1 }],
    ['POST', '/tokens/', own, { data: 'a value' }],
    ['GET', '/proxies/', manager, undefined],
  ];
  return { platform, calls };
});

test.each(clients.map((client) => [client.name, client] as const))(
  '%s invokes a Proxy, makes tokens, and manages, by the one address',
  async (_, client) => {
    const { platform, calls } = world.current;
    for (const [method, path, headers, body] of calls) {
      const statuses = await client.callTwice({
        url: platform.stack.baseUrl + path,
        method,
        headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
        body: body ? JSON.stringify(body) : '',
      });
      const success = method === 'POST' && path !== '/proxy' ? 201 : 200;
      expect({ path, statuses }).toEqual({ path, statuses: [success, success] });
    }
  },
);
