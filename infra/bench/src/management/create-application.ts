import type { Stack } from '@sluice/local';

/** Creates an Application with a rule through the public interface. @returns its id. */
export async function createApplication(
  { serviceUrls, credentials }: Stack,
  signal: AbortSignal,
  permissions: readonly string[] = ['token:create'],
): Promise<string> {
  const rule = {
    description: 'Cards',
    priority: 1,
    container: '/pci/',
    transform: 'mask',
    permissions: ['token:read'],
  };
  const answer = await fetch(`${serviceUrls.managementApi}/applications`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': credentials.management_key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Checkout', type: 'private', permissions, rules: [rule] }),
    signal,
  });
  const { id } = (await answer.json()) as { id?: string };
  if (!id) throw new Error(`The Application could not be created: ${answer.status}`);
  return id;
}
