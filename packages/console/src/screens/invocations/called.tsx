import type { Invocation } from '@sluice/sdk';
import { ThingLink } from '../../app/thing-link.tsx';

interface CalledProps {
  invocation: Pick<Invocation, 'proxy_id' | 'reactor_id'>;
  /** Of Proxies and Reactors. */
  names: ReadonlyMap<string, string>;
}

/** The Proxy that was called, or the Reactor that ran. */
export function Called({ invocation: { proxy_id: proxy, reactor_id: reactor }, names }: CalledProps) {
  if (reactor !== undefined) return <ThingLink type="reactor" id={reactor} name={names.get(reactor)} />;
  return proxy !== undefined && <ThingLink type="proxy" id={proxy} name={names.get(proxy)} />;
}
