import type { Application } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Filters, Pick } from '../../ui/filters.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
import { List, ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const route = getRouteApi('/applications');

const columns: readonly Column<Application>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <Link to="/applications/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Type', tight: true, cell: ({ type }) => <Badge tone={toneOf(type)}>{type}</Badge> },
  { title: 'Permissions', from: 46, cell: ({ permissions }) => summary(permissions) },
  { title: 'Rules', from: 46, atEnd: true, cell: ({ rules }) => rules.length },
  { title: 'Created', from: 46, tight: true, cell: ({ created_at }) => <Time at={created_at} /> },
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
  const { page, type } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['applications', { page, type }],
    queryFn: ({ signal }) => sluice.applications.list({ ...(type && { type }) }, { signal }).page(page),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <Filters>
        <Pick
          label="Type"
          value={type ?? 'all'}
          options={{ all: 'All', private: 'Private', public: 'Public', management: 'Management' }}
          onValue={(chosen) => navigate({ search: chosen === 'all' ? {} : { type: chosen } })}
        />
      </Filters>
      <List
        label="Applications"
        columns={columns}
        query={query}
        onPage={(to) => navigate({ search: (former) => ({ ...former, page: to }) })}
        empty={
          <Empty icon="applications" title={type ? `No ${type} Applications` : 'No Applications yet'}>
            Create one for each program that calls the service. Give it only the permissions that it needs.
          </Empty>
        }
      />
    </>
  );
}

export function toneOf(type: Application['type']) {
  return type === 'management' ? 'warn' : type === 'private' ? 'info' : 'good';
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
