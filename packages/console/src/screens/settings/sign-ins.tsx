import type { SignedIn } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Badge, Card, Soft } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/states.tsx';
import { type Column, Paging, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { SettingsPage } from './settings-page.tsx';
import { usePeople } from './use-people.ts';

const route = getRouteApi('/settings/sign-ins');

export function SignIns() {
  return (
    <SettingsPage intro="Browsers that are signed in to this Tenant. A sign-in ends after 12 hours at most.">
      <Card title="Sign-ins" flush>
        <List />
      </Card>
      <Card title="Ways to sign in">
        <Providers />
      </Card>
    </SettingsPage>
  );
}

function List() {
  const { page } = route.useSearch();
  const navigate = route.useNavigate();
  const names = usePeople();
  const query = useQuery({
    queryKey: ['sign-ins', page],
    queryFn: ({ signal }) => sluice.console.signIns.list({}, { signal }).page(page),
    placeholderData: keepPreviousData,
  });
  const columns: readonly Column<SignedIn>[] = [
    {
      title: 'Who',
      cell: ({ user_id: user, application_id: application }) =>
        application ? (
          <>
            Key of{' '}
            <Link to="/applications/$id" params={{ id: application }}>
              an Application
            </Link>
          </>
        ) : (
          (names.get(user ?? '') ?? <Soft>{user}</Soft>)
        ),
    },
    { title: 'Since', tight: true, cell: ({ created_at }) => <Time at={created_at} /> },
    { title: 'Last used', from: 46, tight: true, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    {
      title: 'End it',
      atEnd: true,
      cell: (signIn) => (signIn.current ? <Badge tone="good">this browser</Badge> : <EndSignIn signIn={signIn} />),
    },
  ];
  return (
    <Loaded query={query}>
      {({ data, pagination }) => (
        <>
          <Table label="Sign-ins" columns={columns} rows={data} keyOf={({ id }) => id} />
          <Paging pagination={pagination} onPage={(to) => navigate({ search: { page: to } })} />
        </>
      )}
    </Loaded>
  );
}

function EndSignIn({ signIn: { id } }: { signIn: SignedIn }) {
  const end = useChange({
    act: (options) => sluice.console.signIns.delete(id, options),
    said: () => 'The sign-in was ended',
  });
  return (
    <Confirm
      small
      act="End"
      title="End this sign-in?"
      text="When you confirm, that browser is signed out. The person may sign in again."
      change={end}
    />
  );
}

function Providers() {
  const query = useQuery({
    queryKey: ['sign-in-providers'],
    queryFn: ({ signal }) => sluice.console.signInProviders({ signal }).toArray(),
  });
  return (
    <Loaded query={query}>
      {(providers) =>
        providers.length === 0 ? (
          <p>
            With a management key, or with a one-time link if the installation allows it. If people should sign in with
            their own accounts, the operators of this installation must set <code>OIDC_ISSUERS</code>.
          </p>
        ) : (
          <p>With an account at {providers.map(({ name }) => name).join(', ')}, or with a management key.</p>
        )
      }
    </Loaded>
  );
}
