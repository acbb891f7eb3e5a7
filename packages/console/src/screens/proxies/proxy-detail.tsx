import type { Proxy as ProxyResource } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet, useNavigate } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Page } from '../../ui/layout.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import { TabLinks } from '../../ui/tabs.tsx';
import { proxyQuery } from './proxy-query.ts';

const route = getRouteApi('/proxies/$id');

export function ProxyDetail() {
  return (
    <Guarded needs="proxy:read" what="You cannot see Proxies">
      <Detail />
    </Guarded>
  );
}

function Detail() {
  const { id } = route.useParams();
  const query = useQuery(proxyQuery(id));
  return <Loaded query={query}>{(proxy) => <Found proxy={proxy} />}</Loaded>;
}

function Found({ proxy }: { proxy: ProxyResource }) {
  const { id, name } = proxy;
  const navigate = useNavigate();
  const remove = useChange({
    of: proxy,
    act: (options) => sluice.proxies.delete(id, options),
    said: () => `The Proxy ${name} was deleted`,
    onDone: () => navigate({ to: '/proxies' }),
  });
  const params = { id };
  return (
    <Page
      title={name}
      back={<Link to="/proxies">Proxies</Link>}
      acts={
        <Confirm
          act="Delete"
          title={`Delete ${name}?`}
          text="When you confirm, every call through it is refused, and its versions are deleted. This cannot be undone."
          needs="proxy:delete"
          change={remove}
        />
      }
    >
      <TabLinks
        label="Parts of this Proxy"
        tabs={[
          { name: 'Settings', link: { to: '/proxies/$id', params } },
          { name: 'Request transform', link: { to: '/proxies/$id/request', params } },
          { name: 'Response transform', link: { to: '/proxies/$id/response', params } },
          { name: 'Versions', link: { to: '/proxies/$id/versions', params } },
        ]}
      />
      <Outlet />
    </Page>
  );
}
