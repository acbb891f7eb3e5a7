import type { Proxy as ProxyResource } from '@sluice/sdk';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense, useMemo } from 'react';
import { sluice } from '../../api/client.ts';
import { useMissingRight } from '../../api/me.ts';
import { useChange } from '../../api/use-change.ts';
import { useEdit } from '../../api/use-edit.ts';
import { ChangedMeanwhile } from '../../code/changed-meanwhile.tsx';
import { faultOfTrial, Trial } from '../../code/trial.tsx';
import { transformNames } from '../../editor/completions.ts';
import { CodeEditor } from '../../editor/lazy-editor.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Form, Submit } from '../../ui/form.tsx';
import { Card, SideBySide, Soft } from '../../ui/layout.tsx';
import { Loading } from '../../ui/states.tsx';
import { proxyQuery } from './proxy-query.ts';

type Kind = 'request' | 'response';

const requestRoute = getRouteApi('/proxies/$id/request');
const responseRoute = getRouteApi('/proxies/$id/response');

export function RequestTransform() {
  return <Transform id={requestRoute.useParams().id} kind="request" />;
}

export function ResponseTransform() {
  return <Transform id={responseRoute.useParams().id} kind="response" />;
}

const about: Readonly<Record<Kind, string>> = {
  request: 'Runs before the request is forwarded. It sees the values. It returns body and headers for the destination.',
  response: 'Runs after the response of the destination. It returns body and headers for the caller.',
};

const beginning: Readonly<Record<Kind, string>> = {
  request: `module.exports = async function (req) {
  const { body, headers } = req.args;
  return { body, headers };
};
`,
  response: `module.exports = async function (req) {
  const { body, headers } = req.args;
  return { body, headers };
};
`,
};

const sample: Readonly<Record<Kind, object>> = {
  request: {
    body: { amount: 4200 },
    headers: { 'content-type': 'application/json' },
    method: 'POST',
    path: '',
    query: '',
  },
  response: { body: { id: 'ch_1' }, headers: { 'content-type': 'application/json' } },
};

function Transform({ id, kind }: { id: string; kind: Kind }) {
  const { data: proxy } = useSuspenseQuery(proxyQuery(id));
  return <TransformEditor key={kind} proxy={proxy} kind={kind} />;
}

function TransformEditor({ proxy, kind }: { proxy: ProxyResource; kind: Kind }) {
  const { id, name, configuration } = proxy;
  const member = `${kind}_transform` as const;
  const kept = proxy[member]?.code;
  const readOnly = useMissingRight('proxy:update') !== undefined;
  const names = useMemo(() => transformNames(kind, Object.keys(configuration ?? {})), [kind, configuration]);
  const edit = useEdit({
    resource: proxy,
    toDraft: (of) => of[member]?.code ?? beginning[kind],
    read: () => sluice.proxies.get(id),
    act: (options, code) => sluice.proxies.patch(id, { [member]: { code } }, options),
    said: () => `The ${kind} transform of ${name} was saved`,
  });
  const { draft: code, setDraft: setCode } = edit;
  const remove = useChange({
    of: proxy,
    act: (options) => sluice.proxies.patch(id, { [member]: null }, options),
    said: () => `The ${kind} transform of ${name} was removed`,
    onDone: () => setCode(beginning[kind]),
  });
  const trial = useMutation({
    mutationFn: (args: Record<string, unknown>) =>
      sluice.proxies.testTransform({ code, args, kind, ...(configuration && { configuration }) }),
  });
  return (
    <SideBySide>
      <Card
        title={kind === 'request' ? 'Request transform' : 'Response transform'}
        intro={about[kind]}
        acts={
          kept !== undefined && (
            <Confirm
              small
              act="Remove"
              title={`Remove the ${kind} transform?`}
              text={`Bodies are then forwarded unchanged. The code stays in the versions of ${name}.`}
              needs="proxy:update"
              change={remove}
            />
          )
        }
      >
        {kept === undefined && (
          <Soft>
            {edit.isChanged ? 'Not saved yet.' : 'There is no transform yet. This is a template.'} It runs after you
            save it.
          </Soft>
        )}
        <Form
          wide
          onSubmit={edit.save}
          error={edit.error}
          acts={
            <Submit needs="proxy:update" busy={edit.isSaving}>
              Save
            </Submit>
          }
        >
          <Suspense fallback={<Loading />}>
            <CodeEditor
              label={`Code of the ${kind} transform`}
              name={`${member}.code`}
              code={code}
              onCode={setCode}
              names={names}
              readOnly={readOnly}
              fault={faultOfTrial(trial)}
            />
          </Suspense>
        </Form>
        <ChangedMeanwhile edit={edit} what="the Proxy" />
      </Card>
      <Card
        title="Test run"
        intro="Runs in the real sandbox with its limits. No service is called, and nothing is stored."
      >
        <Trial needs="proxy:update" args={sample[kind]} trial={trial} />
      </Card>
    </SideBySide>
  );
}
