import type { Application, ExplainRequest } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { sluice } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, Row, TextField } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/states.tsx';
import styles from './applications.module.css';

type Operation = ExplainRequest['operation'];

const route = getRouteApi('/applications/$id');

const operations = {
  'token:read': 'Read it',
  'token:use': 'Use it in a Proxy or a Reactor',
  'token:update': 'Change it',
  'token:delete': 'Delete it',
  'token:search': 'Find it by search',
  'token:create': 'Create one like it',
} as const satisfies Record<Operation, string>;

/** What a key of this Application may do with one token, and which rule or permission says so. The answer has no value in it. */
export function ExplainAccess({ application }: { application: Application }) {
  const { token } = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(token ?? '');
  const [operation, setOperation] = useState<Operation>('token:read');
  const ask = (event: FormEvent) => {
    event.preventDefault();
    navigate({ search: text.trim() ? { token: text.trim() } : {}, replace: true, resetScroll: false });
  };
  return (
    <Card
      title="What would this key see of that token?"
      intro="The same decision as for a real call. No value is shown."
    >
      <form onSubmit={ask}>
        <Row>
          <TextField label="Token id" mono value={text} onText={setText} placeholder="Id of a token" />
          <Choice label="To do what" value={operation} options={operations} onValue={setOperation} />
        </Row>
        <div className={styles.ask}>
          <Button type="submit">Explain</Button>
        </div>
      </form>
      {token && <Verdict application={application} tokenId={token} operation={operation} />}
    </Card>
  );
}

interface VerdictProps {
  application: Application;
  tokenId: string;
  operation: Operation;
}

function Verdict({ application, tokenId, operation }: VerdictProps) {
  const query = useQuery({
    queryKey: ['applications', application.id, 'explain', tokenId, operation],
    queryFn: ({ signal }) => sluice.applications.explain(application.id, { token_id: tokenId, operation }, { signal }),
  });
  return (
    <Loaded query={query}>
      {({ allowed, transform, decided_by: decidedBy, reason }) => (
        <div className={`${styles.verdict} ${allowed ? styles.allowed : styles.refused}`} role="status">
          <strong>
            {allowed ? 'Allowed' : 'Refused'}
            {allowed && transform ? `: callers see ${seen[transform]}` : ''}
          </strong>
          <span>{reason}</span>
          {decidedBy && 'rule' in decidedBy && decidedBy.rule !== undefined && (
            <span>
              Decided by rule {decidedBy.rule + 1}, on <code>{application.rules[decidedBy.rule]?.container}</code>
            </span>
          )}
          {decidedBy && 'permission' in decidedBy && decidedBy.permission !== undefined && (
            <span>
              Decided by the permission <code>{decidedBy.permission}</code>
            </span>
          )}
        </div>
      )}
    </Loaded>
  );
}

const seen = { reveal: 'the value', mask: 'the mask', redact: 'no value' } as const;
