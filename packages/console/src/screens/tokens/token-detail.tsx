import type { DescribedToken } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { sluice } from '../../api/client.ts';
import { nameOf, useMe } from '../../api/me.ts';
import { useNames } from '../../api/use-names.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { Id } from '../../ui/copy.tsx';
import { Find } from '../../ui/filters.tsx';
import { Card, Facts, Page, Soft } from '../../ui/layout.tsx';
import { Empty, Guarded, Loaded } from '../../ui/states.tsx';
import { CursorPaging } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { LogTable } from '../audit/log-table.tsx';
import { TokenBinding } from './token-binding.tsx';
import { Metadata } from './token-metadata.tsx';
import { tokenTypes } from './token-search.ts';
import styles from './tokens.module.css';

const route = getRouteApi('/tokens/$id');

/** Loaded after the page. */
const UseIt = lazy(() => import('./use-it.tsx'));

export function TokenDetail() {
  const { id } = route.useParams();
  return (
    <Page title="Token" part={id} back={<Link to="/tokens">Tokens</Link>}>
      <Guarded needs="application:read" what="You cannot see tokens">
        <Described id={id} />
        <WhatKeysSee id={id} />
      </Guarded>
      <Card
        title="Audit log"
        intro="All rows about this token, newest first. They include disclosures through Proxies and Reactors, and uses that were refused."
        flush
      >
        <Guarded needs="log:read" what="You cannot see the audit log">
          <Touched id={id} />
        </Guarded>
      </Card>
    </Page>
  );
}

function Described({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['tokens', 'one', id],
    queryFn: async ({ signal }) => (await sluice.tokens.list({ id: [id] }, { signal }).page()).data[0] ?? null,
  });
  return (
    <>
      <Card flush={!query.data}>
        <Loaded query={query}>
          {(token) =>
            token ? (
              <TokenFacts token={token} />
            ) : (
              <Empty icon="tokens" title="There is no token with this id">
                It was deleted, it has expired, or it belongs to another Tenant. Its rows in the audit log are shown
                below.
              </Empty>
            )
          }
        </Loaded>
      </Card>
      {query.data && <TokenBinding token={query.data} />}
      {query.data && (
        <Suspense>
          <UseIt tokenId={id} />
        </Suspense>
      )}
    </>
  );
}

function TokenFacts({ token }: { token: DescribedToken }) {
  const { id, type, containers, metadata, created_by: creator, modified_by: modifier } = token;
  const names = useNames('applications', [creator, modifier]);
  const me = useMe();
  const author = (by: string) =>
    by === me.user?.id ? (
      `${nameOf(me)} (you)`
    ) : (
      <ThingLink type={names.has(by) ? 'application' : ''} id={by} name={names.get(by)} />
    );
  return (
    <Facts
      facts={{
        Id: <Id id={id} />,
        Type: tokenTypes[type],
        Containers: <code>{containers.join(', ')}</code>,
        Value: <Soft>the console never shows it</Soft>,
        Created: (
          <>
            <Time at={token.created_at} /> {creator && <>by {author(creator)}</>}
          </>
        ),
        Changed: token.modified_at && (
          <>
            <Time at={token.modified_at} /> {modifier && <>by {author(modifier)}</>}
          </>
        ),
        Expires: token.expires_at ? <Time at={token.expires_at} /> : <Soft>never</Soft>,
        Metadata: <Metadata metadata={metadata} />,
        'Found by': token.search_indexes?.length ? <code>{token.search_indexes.join(', ')}</code> : undefined,
        'Fingerprint of': token.fingerprint_expression && <code>{token.fingerprint_expression}</code>,
      }}
    />
  );
}

/** A link to the page of an Application, which explains what its keys see. */
function WhatKeysSee({ id }: { id: string }) {
  const [name, setName] = useState('');
  const query = useQuery({
    queryKey: ['applications', 'of tokens', name],
    queryFn: ({ signal }) => sluice.applications.list({ size: 20, ...(name && { name }) }, { signal }).page(),
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title="What may an Application do with this token?"
      intro="Choose an Application. The result names the rule that decides."
    >
      <Loaded query={query}>
        {({ data, pagination }) => {
          const keys = data.filter(({ type }) => type !== 'management');
          return (
            <>
              {((pagination.total_pages ?? 1) > 1 || name !== '') && (
                <Find live label="Name" value={name} placeholder="Name of an Application" onValue={setName} />
              )}
              {keys.length === 0 && <Soft>No Application with token permissions has this name.</Soft>}
              <ul className={styles.applications}>
                {keys.map((application) => (
                  <li key={application.id} title={application.name}>
                    <Link to="/applications/$id" params={{ id: application.id }} search={{ token: id }}>
                      {application.name}
                    </Link>
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function Touched({ id }: { id: string }) {
  const { start } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['logs', { token_id: id }, start],
    queryFn: ({ signal }) => sluice.logs.list({ token_id: id, size: 20 }, { signal }).page(start),
    placeholderData: keepPreviousData,
  });
  const begin = (at: string | undefined) => navigate({ search: at ? { start: at } : {}, resetScroll: false });
  return (
    <Loaded query={query}>
      {({ data, names, pagination }) =>
        data.length === 0 ? (
          <Empty icon="audit" title="The audit log has no rows about this token">
            New rows appear within two seconds.
          </Empty>
        ) : (
          <>
            <LogTable label="Audit log" rows={data} names={names} tokenId={id} />
            <CursorPaging
              next={pagination.next}
              isFormer={query.isPlaceholderData}
              onNext={begin}
              onFirst={start ? () => begin(undefined) : undefined}
            />
          </>
        )
      }
    </Loaded>
  );
}
