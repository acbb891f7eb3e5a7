import type { AccessExplanation, Application, ExplainRequest } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { sluice } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, Row, TextField } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/states.tsx';
import styles from './applications.module.css';
import { Verdict } from './verdict.tsx';

type Operation = NonNullable<ExplainRequest['operation']>;

const route = getRouteApi('/applications/$id');

const operations = {
  'token:read': 'Read',
  'token:use': 'Use in a Proxy or a Reactor',
  'token:update': 'Update',
  'token:delete': 'Delete',
  'token:search': 'Search',
  'token:create': 'Create another token in the same containers',
} as const satisfies Record<Operation, string>;

/** What a key of this Application may do with one token, and which rule or permission says so. The answer has no value in it. */
export function ExplainAccess({ application }: { application: Application }) {
  const { token } = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(token ?? '');
  const [operation, setOperation] = useState<Operation>('token:read');
  const ask = (event: FormEvent) => {
    event.preventDefault();
    const asked = text.trim();
    navigate({
      search: ({ token: _, ...others }) => ({ ...others, ...(asked && { token: asked }) }),
      replace: true,
      resetScroll: false,
    });
  };
  return (
    <Card
      title="What may this Application do with a token?"
      intro="The decision is the same as for a real request. No value is shown."
    >
      <form onSubmit={ask}>
        <Row>
          <TextField label="Token id" mono value={text} onText={setText} placeholder="Id of a token" />
          <Choice label="Operation" value={operation} options={operations} onValue={setOperation} />
        </Row>
        <div className={styles.ask}>
          <Button type="submit">Explain</Button>
        </div>
      </form>
      {token && <TokenVerdict application={application} tokenId={token} operation={operation} />}
    </Card>
  );
}

const shown = { reveal: 'the value', mask: 'the masked value', redact: 'no value' } as const;

/** Who gets which part of the value. A use always sends the value: transforms of rules only concern responses with tokens. */
function seenBy(operation: Operation, { allowed, transform }: AccessExplanation): string | undefined {
  if (operation === 'token:use') {
    return allowed ? 'the destination gets the value' : 'the destination gets nothing, and the caller gets 403';
  }
  if (!allowed || !transform || operation === 'token:delete') return undefined;
  return `callers see ${shown[transform]}`;
}

interface VerdictProps {
  application: Application;
  tokenId: string;
  operation: Operation;
}

function TokenVerdict({ application, tokenId, operation }: VerdictProps) {
  const query = useQuery({
    queryKey: ['applications', application.id, 'explain', tokenId, operation],
    queryFn: ({ signal }) => sluice.applications.explain(application.id, { token_id: tokenId, operation }, { signal }),
  });
  return (
    <Loaded query={query}>
      {(answer) => <Verdict application={application} answer={answer} seen={seenBy(operation, answer)} />}
    </Loaded>
  );
}
