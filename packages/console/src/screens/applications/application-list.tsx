import type { Application } from '@sluice/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Soft } from '../../ui/layout.tsx';
import { byName, createdColumn, List } from '../../ui/list.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Cut } from '../../ui/table.tsx';
import { typeNames } from './application-types.ts';

const route = getRouteApi('/applications');

const columns: readonly Column<Application>[] = [
  {
    title: 'Name',
    sort: 'name',
    cell: ({ id, name }) => (
      <Link to="/applications/$id" params={{ id }}>
        <Cut>{name}</Cut>
      </Link>
    ),
  },
  { title: 'Type', tight: true, width: '8rem', cell: ({ type }) => typeNames[type] },
  { title: 'Permissions', from: 46, width: '28%', cell: ({ permissions }) => summary(permissions) },
  { title: 'Rules', from: 54, atEnd: true, width: '4.5rem', cell: ({ rules }) => rules.length },
  createdColumn,
];

export function ApplicationList() {
  return (
    <ListPage
      title="Applications"
      intro="An Application holds API keys. Its permissions and rules decide what callers with these keys may do."
      needs="application:read"
      acts={
        <LinkButton to="/applications/new" kind="primary" icon="plus" needs="application:create">
          New Application
        </LinkButton>
      }
    >
      <Applications />
    </ListPage>
  );
}

function Applications() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <List
      label="Applications"
      queryKey={['applications']}
      search={search}
      onSearch={(changed, options) => navigate({ search: changed, ...options })}
      filters={{ ...byName, type: { label: 'Type', options: typeNames } }}
      read={(query, options) => sluice.applications.list(query, options)}
      columns={columns}
      csv={({ id, name, type, permissions, rules, proxies, created_at, modified_at, expires_at }) => ({
        ...{ id, name, type, permissions: permissions.join(' '), rules: rules.length, proxies: proxies?.join(' ') },
        ...{ created_at, modified_at, expires_at },
      })}
      empty={
        <Empty icon="applications" title="No Applications yet">
          Create one for each program that calls the service. Give it only the permissions that it needs.
        </Empty>
      }
    />
  );
}

/** The first few, because management Applications have dozens. */
function summary(permissions: readonly string[]) {
  const [first, second] = permissions;
  const more = permissions.length - 2;
  if (!first) return <Soft>only by rules</Soft>;
  return (
    <>
      <code>{[first, second].filter(Boolean).join(', ')}</code>
      {more > 0 && <Soft> and {more} more</Soft>}
    </>
  );
}
