import type { DescribedToken } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useNames } from '../../api/use-names.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import { Id } from '../../ui/copy.tsx';
import { Find } from '../../ui/filters.tsx';
import { Badge, Card, Facts, Page, Soft } from '../../ui/layout.tsx';
import { Empty, Guarded, Loaded } from '../../ui/states.tsx';
import { CursorPaging } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { LogTable } from '../audit/log-table.tsx';
import { Metadata } from './token-list.tsx';
import { tokenTypes } from './token-search.ts';
import styles from './tokens.module.css';

const route = getRouteApi('/tokens/$id');

export function TokenDetail() {
  const { id } = route.useParams();
  return (
    <Page title="Token" back={<Link to="/tokens">Tokens</Link>}>
      <Guarded needs="application:read" what="You cannot see tokens">
        <Described id={id} />
        <WhatKeysSee id={id} />
      </Guarded>
      <Card title="Who touched it" intro="Newest first, disclosures through Proxies and Reactors included." flush>
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
    <Card flush={!query.data}>
      <Loaded query={query}>
        {(token) =>
          token ? (
            <TokenFacts token={token} />
          ) : (
            <Empty icon="tokens" title="There is no token with this id">
              It may be deleted or expired, or of another Tenant. What the audit log knows of it stands below.
            </Empty>
          )
        }
      </Loaded>
    </Card>
  );
}

function TokenFacts({ token }: { token: DescribedToken }) {
  const { id, type, containers, metadata, created_by: creator, modified_by: modifier } = token;
  const names = useNames('applications', [creator, modifier]);
  const application = (by: string) => <ThingLink type="application" id={by} name={names.get(by)} />;
  return (
    <Facts
      facts={{
        Id: <Id id={id} />,
        Type: <Badge tone="info">{tokenTypes[type]}</Badge>,
        Containers: <code>{containers.join(', ')}</code>,
        Value: <Soft>never shown by the console</Soft>,
        Created: (
          <>
            <Time at={token.created_at} /> {creator && <>by {application(creator)}</>}
          </>
        ),
        Changed: token.modified_at && (
          <>
            <Time at={token.modified_at} /> {modifier && <>by {application(modifier)}</>}
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
    <Card title="What would a key see of it?" intro="Choose whose key. The answer names the rule that decides.">
      <Loaded query={query}>
        {({ data, pagination }) => {
          const keys = data.filter(({ type }) => type !== 'management');
          return (
            <>
              {((pagination.total_pages ?? 1) > 1 || name !== '') && (
                <Find label="Name" value={name} placeholder="Name of an Application" onValue={setName} />
              )}
              {keys.length === 0 && <Soft>No such Application works with tokens.</Soft>}
              <ul className={styles.applications}>
                {keys.map((application) => (
                  <li key={application.id}>
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
      {({ data, pagination }) =>
        data.length === 0 ? (
          <Empty icon="audit" title="The audit log knows nothing of it">
            A row is there two seconds after what it tells of.
          </Empty>
        ) : (
          <>
            <LogTable label="Who touched it" rows={data} tokenId={id} />
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
