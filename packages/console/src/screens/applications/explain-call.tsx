import type { AccessExplanation, Application, ExplainRequest } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useMissingRight } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { Row, TextField } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';
import { Picker } from '../../ui/picker.tsx';
import { Loaded } from '../../ui/states.tsx';
import styles from './applications.module.css';
import { Verdict } from './verdict.tsx';

const route = getRouteApi('/applications/$id');

/** Whether a key of this Application may make one call, and what says so. Nothing is called. */
export function ExplainCall({ application }: { application: Application }) {
  const {
    proxy: asked = '',
    method: askedMethod = 'POST',
    path: askedPath = '/',
    revealing = '',
    place: askedPlace = '',
  } = route.useSearch();
  const navigate = route.useNavigate();
  const hidden = useMissingRight('proxy:read') !== undefined;
  const [proxy, setProxy] = useState(asked);
  const [method, setMethod] = useState(askedMethod);
  const [path, setPath] = useState(askedPath);
  const [tokenId, setTokenId] = useState(revealing);
  const [place, setPlace] = useState(askedPlace);
  if (hidden) return null;
  const ask = (event: FormEvent) => {
    event.preventDefault();
    const revealed = tokenId.trim();
    const at = revealed && place.trim();
    const search = {
      ...{ proxy, method: method.trim(), path },
      ...(revealed && { revealing: revealed }),
      ...(at && { place: at }),
    };
    navigate({
      search: ({ revealing: _, place: __, ...others }) => ({ ...others, ...search }),
      replace: true,
      resetScroll: false,
    });
  };
  return (
    <Card
      id="explain-call"
      title="May this Application make a call?"
      intro="The decision is the same as for a real call. Nothing is sent to the destination."
    >
      <form className={styles.question} onSubmit={ask}>
        <Row>
          <Picker
            of="proxies"
            label="Proxy"
            placeholder="Name or id"
            value={proxy === '' ? undefined : proxy}
            onValue={(id = '') => setProxy(id)}
          />
          <TextField label="Method" mono value={method} onText={setMethod} required />
          <TextField
            label="Path"
            mono
            value={path}
            onText={setPath}
            hint="The part of the path after the address of the route or of the Proxy."
          />
        </Row>
        <Row>
          <TextField
            label="Token in the call"
            mono
            value={tokenId}
            onText={setTokenId}
            placeholder="Id of a token"
            hint="Optional: a token that the call reveals."
          />
          <TextField
            label="Place of the token"
            mono
            value={place}
            onText={setPlace}
            placeholder="body"
            hint="Optional: body, query, path or header:<name>."
            disabled={tokenId.trim() === ''}
          />
        </Row>
        <div className={styles.ask}>
          <Button type="submit" refusal={proxy === '' ? 'Choose a Proxy.' : undefined}>
            Explain the call
          </Button>
        </div>
      </form>
      {asked && askedMethod && (
        <CallVerdict
          application={application}
          question={{
            ...{ proxy_id: asked, method: askedMethod, path: askedPath },
            ...(revealing && { token_id: revealing }),
            ...(revealing && askedPlace && { place: askedPlace }),
          }}
        />
      )}
    </Card>
  );
}

function seenBy({ token_id: tokenId }: ExplainRequest, { allowed }: AccessExplanation): string | undefined {
  if (!allowed) return 'nothing is sent to the destination';
  return tokenId === undefined ? undefined : 'the destination gets the value of the token';
}

function CallVerdict({ application, question }: { application: Application; question: ExplainRequest }) {
  const query = useQuery({
    queryKey: ['applications', application.id, 'explain', question],
    queryFn: ({ signal }) => sluice.applications.explain(application.id, question, { signal }),
  });
  return (
    <Loaded query={query}>
      {(answer) => <Verdict application={application} answer={answer} seen={seenBy(question, answer)} />}
    </Loaded>
  );
}
