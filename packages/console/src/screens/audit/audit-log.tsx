import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { DownloadButton, LinkButton } from '../../ui/button.tsx';
import { Filters, Find, Moment, Pick } from '../../ui/filters.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { Empty, Guarded, Loaded } from '../../ui/states.tsx';
import { CursorPaging } from '../../ui/table.tsx';
import { type AuditSearch, entityTypes, operations } from './audit-search.ts';
import { LogCsv } from './log-csv.tsx';
import { LogTable } from './log-table.tsx';
import { ThingFilter } from './thing-filter.tsx';

const route = getRouteApi('/audit');

export function AuditLog() {
  const { start: _, ...filters } = route.useSearch();
  return (
    <Page
      title="Audit"
      intro="Who did what, when, to which resource, and which tokens were disclosed where. Rows are never changed, and each can be verified."
      acts={
        <>
          <LinkButton to="/audit/checkpoint" icon="audit" needs="log:read">
            Checkpoint
          </LinkButton>
          <DownloadButton
            href={`/api/logs/export?${new URLSearchParams(filters)}`}
            name="audit-log.ndjson"
            needs="log:read"
          >
            Export NDJSON
          </DownloadButton>
          <LogCsv filters={filters} />
        </>
      }
    >
      <Card flush>
        <Guarded needs="log:read" what="You cannot see the audit log">
          <Logs filters={filters} />
        </Guarded>
      </Card>
    </Page>
  );
}

function Logs({ filters }: { filters: AuditSearch }) {
  const { start } = route.useSearch();
  const navigate = route.useNavigate();
  const isFiltered = Object.keys(filters).length > 0;
  const query = useQuery({
    queryKey: ['logs', filters, start],
    queryFn: ({ signal }) => sluice.logs.list({ ...filters, size: 50 }, { signal }).page(start),
    placeholderData: keepPreviousData,
  });
  const filterBy = (name: keyof AuditSearch) => (value: string | undefined) =>
    navigate({
      search: { ...filters, [name]: value === 'all' || value === '' ? undefined : value },
      replace: true,
      resetScroll: false,
    });
  const named = (id: string | undefined) => (id === undefined ? undefined : { id, name: query.data?.names[id] });
  return (
    <>
      <Filters onClear={isFiltered ? () => navigate({ search: {} }) : undefined}>
        <ThingFilter label="Actor" value={named(filters.actor_id)} onValue={filterBy('actor_id')} />
        <ThingFilter label="Resource" value={named(filters.entity_id)} onValue={filterBy('entity_id')} />
        <Find live label="Token" value={filters.token_id ?? ''} placeholder="Token id" onValue={filterBy('token_id')} />
        <Find live label="Trace" value={filters.trace_id ?? ''} placeholder="Trace id" onValue={filterBy('trace_id')} />
        <Pick
          label="Type"
          value={filters.entity_type ?? 'all'}
          options={{ all: 'All', ...entityTypes }}
          onValue={filterBy('entity_type')}
        />
        <Pick
          label="Operation"
          value={filters.operation ?? 'all'}
          options={{ all: 'All', ...operations }}
          onValue={filterBy('operation')}
        />
        <Moment label="From" value={filters.start_date} onValue={filterBy('start_date')} />
        <Moment label="Before" value={filters.end_date} onValue={filterBy('end_date')} />
      </Filters>
      <Loaded query={query}>
        {({ data, names, pagination }) =>
          data.length === 0 ? (
            <Empty icon="audit" title={isFiltered ? 'No row of the log matches' : 'The audit log is empty'}>
              {isFiltered
                ? 'Remove a filter. New rows appear within two seconds.'
                : 'Every change and every disclosure appears here within two seconds.'}
            </Empty>
          ) : (
            <>
              <LogTable label="Audit log" rows={data} names={names} />
              <CursorPaging
                next={pagination.next}
                isFormer={query.isPlaceholderData}
                onNext={(next) => navigate({ search: { ...filters, start: next } })}
                onFirst={start ? () => navigate({ search: filters }) : undefined}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}
