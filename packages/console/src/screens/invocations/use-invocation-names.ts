import type { Invocation } from '@sluice/sdk';
import { useNames } from '../../api/use-names.ts';

type Naming = Pick<Invocation, 'proxy_id' | 'reactor_id' | 'application_id'>;

/** Names of Proxies, Reactors and Applications by id. */
export function useInvocationNames(invocations: readonly Naming[]): ReadonlyMap<string, string> {
  const proxies = useNames(
    'proxies',
    invocations.map((one) => one.proxy_id),
  );
  const reactors = useNames(
    'reactors',
    invocations.map((one) => one.reactor_id),
  );
  const applications = useNames(
    'applications',
    invocations.map((one) => one.application_id),
  );
  return new Map([...proxies, ...reactors, ...applications]);
}
