import type { SignedIn } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { useGiving } from '../../api/giving.ts';
import { useMe } from '../../api/me.ts';
import { useChange } from '../../api/use-change.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Badge, Card, Soft } from '../../ui/layout.tsx';
import { byEmail, List } from '../../ui/list.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, Cut } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { providersQuery } from './providers-query.ts';
import { SettingsPage } from './settings-page.tsx';
import { useMembers, usePeople } from './use-people.ts';

const route = getRouteApi('/settings/sign-ins');

export function SignIns() {
  return (
    <SettingsPage intro="Browsers that are signed in to this Tenant. A sign-in ends after 12 hours at most.">
      <Card title="Browsers" flush>
        <Browsers />
      </Card>
      <Card title="Ways to sign in">
        <Providers />
      </Card>
    </SettingsPage>
  );
}

function Browsers() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <List
      label="Sign-ins"
      queryKey={['sign-ins']}
      search={search}
      onSearch={(changed, options) => navigate({ search: changed, ...options })}
      filters={byEmail}
      read={(query, options) => sluice.console.signIns.list(query, options)}
      columns={columns}
      csv={({ id, user_id, application_id, created_at, last_used_at, expires_at }) => ({
        ...{ id, user_id, application_id, created_at, last_used_at, expires_at },
      })}
      empty={<Empty icon="applications" title="No sign-ins" />}
    />
  );
}

const columns: readonly Column<SignedIn>[] = [
  { title: 'Person', sort: 'email', cell: (signIn) => <Person signIn={signIn} /> },
  {
    title: 'Since',
    sort: 'created_at',
    tight: true,
    width: '9.5rem',
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    title: 'Last used',
    from: 54,
    tight: true,
    width: '9.5rem',
    cell: ({ last_used_at }) => <Time at={last_used_at} />,
  },
  {
    title: 'Action',
    atEnd: true,
    width: '9.5rem',
    cell: (signIn) => (signIn.current ? <Badge tone="good">this browser</Badge> : <EndSignIn signIn={signIn} />),
  },
];

function Person({ signIn: { user_id: user = '', application_id: application } }: { signIn: SignedIn }) {
  const names = usePeople();
  const name = names.get(user);
  if (!application) return name ? <Cut>{name}</Cut> : <Soft>{user}</Soft>;
  return (
    <>
      Key of{' '}
      <Link to="/applications/$id" params={{ id: application }}>
        an Application
      </Link>
    </>
  );
}

/**
 * People end their own sign-ins. The rights for those of others depend on the role of the person: undefined until the
 * members are read.
 */
function useEndRefusal({ user_id: userId, application_id: applicationId }: SignedIn) {
  const me = useMe();
  const giving = useGiving();
  const members = useMembers();
  const isOwn = userId === undefined ? applicationId === me.application_id : userId === me.user?.id;
  if (isOwn) return {};
  if (!members && me.permissions.includes('tenant:member:read')) return undefined;
  const member = members?.find(({ user }) => user.id === userId);
  return { needs: 'tenant:member:update' as const, refusal: member && giving.ofRole(member.role) };
}

function EndSignIn({ signIn }: { signIn: SignedIn }) {
  const { id } = signIn;
  const rights = useEndRefusal(signIn);
  const end = useChange({
    act: (options) => sluice.console.signIns.delete(id, options),
    said: () => 'The sign-in was ended',
  });
  if (!rights) return null;
  return (
    <Confirm
      small
      act="End"
      title="End this sign-in?"
      text="When you confirm, that browser is signed out. The person can sign in again."
      {...rights}
      change={end}
    />
  );
}

function Providers() {
  const query = useQuery(providersQuery);
  return (
    <Loaded query={query}>
      {(providers) =>
        providers.length === 0 ? (
          <p>
            People sign in with a management key. If the installation allows one-time links, people can also sign in
            with such a link. If people should sign in with their own accounts, the operators of this installation must
            set <code>OIDC_ISSUERS</code>.
          </p>
        ) : (
          <p>With an account at {providers.map(({ name }) => name).join(', ')}, or with a management key.</p>
        )
      }
    </Loaded>
  );
}
