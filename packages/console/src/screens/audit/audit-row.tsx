import type { Log } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Code, Id } from '../../ui/copy.tsx';
import { Card, Facts, Page } from '../../ui/layout.tsx';
import { Empty, Guarded, Loaded } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import styles from './audit.module.css';
import { happeningOf } from './happenings.ts';
import { Actor, type LogNames, Resource } from './log-names.tsx';
import { RefusedUse } from './log-table.tsx';
import { refusedUsesOf } from './refused-uses.ts';
import { RowProof } from './row-proof.tsx';

const route = getRouteApi('/audit/$id');

export function AuditRow() {
  const { id } = route.useParams();
  return (
    <Page title="Row of the audit log" part={id} back={<Link to="/audit">Audit</Link>}>
      <Guarded needs="log:read" what="You cannot see the audit log">
        <FindRow />
      </Guarded>
    </Page>
  );
}

function FindRow() {
  const { id } = route.useParams();
  const { entity_id: entityId, at } = route.useSearch();
  const query = useQuery({
    queryKey: ['logs', 'row', id, entityId, at],
    queryFn: async ({ signal }) => {
      if (entityId === undefined || at === undefined) return null;
      const moment = Date.parse(at);
      if (Number.isNaN(moment)) return null;
      const end_date = new Date(moment + 1).toISOString();
      const pages = sluice.logs.list({ entity_id: entityId, start_date: at, end_date, size: 100 }, { signal });
      let start: string | undefined;
      do {
        const { data, names, pagination } = await pages.page(start);
        const row = data.find((one) => one.id === id);
        if (row) return { row, names };
        start = pagination.next;
      } while (start !== undefined);
      return null;
    },
    staleTime: Number.POSITIVE_INFINITY, // rows never change
  });
  return (
    <Loaded query={query}>
      {(found) =>
        found ? (
          <Found {...found} />
        ) : (
          <Card flush>
            <Empty
              icon="audit"
              title="This row does not exist"
              acts={<LinkButton to="/audit">To the audit log</LinkButton>}
            >
              The address may be incomplete: copy the whole address of a row. Retention may also have deleted the row.
            </Empty>
          </Card>
        )
      }
    </Loaded>
  );
}

function Found({ row, names }: { row: Log; names: LogNames }) {
  const { entity_id: id, actor_id: actor, trace_id: traceId, detail } = row;
  const happening = happeningOf(row);
  const refused = refusedUsesOf(detail);
  const tokenIds = Array.isArray(detail?.token_ids) ? detail.token_ids.map(String) : [];
  return (
    <>
      <Card title={happening} intro={row.message === happening ? undefined : row.message}>
        <Facts
          facts={{
            Time: <Moment at={row.created_at} />,
            Resource: (
              <span className={styles.thing}>
                <Resource row={row} names={names} />
                {row.entity_type !== 'token' && <Id id={id} what="the id of the resource" />}
              </span>
            ),
            Actor: (
              <span className={styles.thing}>
                <Actor row={row} names={names} /> {actor && <Id id={actor} what="the id of the actor" />}
              </span>
            ),
            'Trace id': traceId && (
              <Link to="/audit" search={{ trace_id: traceId }}>
                <code>{traceId}</code>
              </Link>
            ),
            Id: <Id id={row.id} />,
          }}
        />
      </Card>
      {refused.length > 0 && (
        <Card
          title={refused.length === 1 ? 'A token was not revealed' : `${refused.length} tokens were not revealed`}
          intro={`A restriction of ${refused.length === 1 ? 'the' : 'each'} token did not allow the use.`}
        >
          <ul className={styles.refused}>
            {refused.map((one) => (
              <li key={one.tokenId}>
                <RefusedUse {...one} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {tokenIds.some((tokenId) => tokenId !== id) && (
        <Card title={tokenIds.length === 1 ? 'Token' : `${tokenIds.length} tokens`}>
          <ul className={styles.tokens}>
            {tokenIds.map((tokenId) => (
              <li key={tokenId}>
                <ThingLink type="token" id={tokenId} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      <RowProof row={row} />
      <Card
        title="Row"
        intro="The proof covers exactly the text below. This text has the ids of resources and actors, but not their names."
      >
        <Code text={JSON.stringify(row, undefined, 2)} what="the row" />
      </Card>
    </>
  );
}
