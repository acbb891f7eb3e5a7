import type { Proxy as ProxyResource } from '@sluice/sdk';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useEdit } from '../../api/use-edit.ts';
import { ChangedMeanwhile } from '../../code/changed-meanwhile.tsx';
import { Button } from '../../ui/button.tsx';
import { Code, Id } from '../../ui/copy.tsx';
import { Badge, Card, Facts, Soft } from '../../ui/layout.tsx';
import { Time } from '../../ui/time.tsx';
import { curlCall, libraryCall } from './calls.ts';
import { LastInvocations } from './last-invocations.tsx';
import styles from './proxies.module.css';
import { ProxyForm } from './proxy-form.tsx';
import { proxyQuery } from './proxy-query.ts';

const route = getRouteApi('/proxies/$id/');

export function ProxySettings() {
  const { id } = route.useParams();
  const { data: proxy } = useSuspenseQuery(proxyQuery(id));
  const [editing, setEditing] = useState(false);
  if (editing) return <Editor proxy={proxy} onDone={() => setEditing(false)} />;
  return (
    <>
      <Card
        title="Settings"
        acts={
          <Button small needs="proxy:update" onClick={() => setEditing(true)}>
            Change
          </Button>
        }
      >
        <Settings proxy={proxy} />
      </Card>
      <LastInvocations proxyId={id} />
      <Card
        title="Call it"
        intro="SLUICE_URL is the base URL of the service; on your own machine http://127.0.0.1:8080."
      >
        <div className={styles.calls}>
          <div>
            <h3>curl</h3>
            <Code text={curlCall(proxy)} what="the curl call" />
          </div>
          <div>
            <h3>Client library</h3>
            <Code text={libraryCall(proxy)} what="the library call" />
          </div>
        </div>
      </Card>
    </>
  );
}

function Settings({ proxy }: { proxy: ProxyResource }) {
  const names = Object.keys(proxy.configuration ?? {});
  const { application_id: applicationId, former_application_id: former, modified_at, created_at } = proxy;
  return (
    <Facts
      facts={{
        Destination: <code>{proxy.destination_url}</code>,
        Id: <Id id={proxy.id} />,
        Key: <Id id={proxy.key} what="the key" />,
        Callers: proxy.require_auth ? <Badge tone="good">need a key</Badge> : <Badge tone="warn">anybody</Badge>,
        'Application of the code': applicationId ? (
          <Link to="/applications/$id" params={{ id: applicationId }}>
            {applicationId}
          </Link>
        ) : former ? (
          <>
            <Badge tone="bad">deleted</Badge> <code>{former}</code>{' '}
            <Soft>Code has no req.svc until you choose another one.</Soft>
          </>
        ) : (
          <Soft>none</Soft>
        ),
        Configuration: names.length > 0 ? <code>{names.join(', ')}</code> : <Soft>none</Soft>,
        Changed: <Time at={modified_at ?? created_at} />,
      }}
    />
  );
}

function Editor({ proxy, onDone }: { proxy: ProxyResource; onDone: () => void }) {
  const { id } = proxy;
  const edit = useEdit({
    resource: proxy,
    toDraft: ({ name, destination_url, require_auth, configuration = {}, application_id }) => ({
      ...{ name, destination_url, require_auth, configuration },
      applicationId: application_id ?? '',
    }),
    read: () => sluice.proxies.get(id),
    act: (options, { applicationId, configuration: values, ...body }, { configuration = {}, application_id }) => {
      // A merge patch keeps members that it does not name, so a removed value is sent as null.
      const removed = Object.keys(configuration).filter((key) => !Object.hasOwn(values, key));
      const merged = { ...values, ...Object.fromEntries(removed.map((key) => [key, null])) };
      const application = applicationId ? { id: applicationId } : null;
      const isNamed = applicationId !== (application_id ?? '');
      return sluice.proxies.patch(id, { ...body, ...(isNamed && { application }), configuration: merged }, options);
    },
    said: ({ name }) => `The Proxy ${name} was changed`,
    onDone,
  });
  return (
    <Card title="Change the settings">
      <ProxyForm
        draft={edit.draft}
        onDraft={edit.setDraft}
        onSubmit={edit.save}
        error={edit.error}
        acts={
          <>
            <Button onClick={onDone}>Cancel</Button>
            <Button kind="primary" type="submit" busy={edit.isSaving}>
              Save
            </Button>
          </>
        }
      />
      <ChangedMeanwhile edit={edit} what="the Proxy" />
    </Card>
  );
}
