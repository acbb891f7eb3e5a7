import type { ApplicationTemplate } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useGiving } from '../../api/giving.ts';
import { useUnsaved } from '../../api/unsaved.ts';
import { useChange } from '../../api/use-change.ts';
import { Choice, Form, Submit, TextField } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { NewSecret } from '../../ui/new-secret.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import { type ApplicationType, applicationTypes } from './application-types.ts';
import styles from './applications.module.css';
import { type Grants, GrantsEditor } from './grants-editor.tsx';

const route = getRouteApi('/applications/new');

const nothing: Grants = { permissions: [], rules: [], proxies: null };

/** What the first steps of a new Tenant need. */
const firstCall: Grants = { ...nothing, permissions: ['token:create', 'token:use'] };

export function ApplicationNew() {
  return (
    <Page title="New Application" back={<Link to="/applications">Applications</Link>}>
      <Guarded needs="application:create" what="You cannot create Applications">
        <NewApplication />
      </Guarded>
    </Page>
  );
}

function NewApplication() {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [type, setType] = useState<ApplicationType>('private');
  const initial = route.useSearch().start === 'first-call' ? firstCall : nothing;
  const [grants, setGrants] = useState(initial);
  const [template, setTemplate] = useState<string>();
  const { permissions, rules, proxies } = grants;
  const unsaved = useUnsaved(name !== '' || grants !== initial);
  const create = useChange({
    unsaved,
    act: (options) =>
      sluice.applications.create({ name, type, permissions, rules, ...(proxies && { proxies }) }, options),
    said: (made) => `The Application ${made.name} was created`,
  });
  const take = (chosen: ApplicationTemplate) => {
    setTemplate(chosen.id);
    setType(chosen.application_type);
    setGrants({ permissions: chosen.permissions, rules: chosen.rules, proxies: null });
    setName((former) => former || chosen.name);
  };
  const chooseType = (chosen: ApplicationType) => {
    setTemplate(undefined);
    setType(chosen);
    setGrants(nothing);
  };
  const made = create.data;
  return (
    <>
      <Card title="Template">
        <Templates chosen={template} onChosen={take} />
      </Card>
      <Card title="Details">
        <Form
          wide
          onSubmit={() => create.mutate()}
          error={create.error}
          acts={<Submit busy={create.isPending}>Create Application</Submit>}
        >
          <TextField label="Name" value={name} onText={setName} maxLength={200} required name="name" />
          <Choice label="Type" name="type" value={type} options={applicationTypes} onValue={chooseType} />
          <GrantsEditor type={type} grants={grants} onGrants={setGrants} />
        </Form>
      </Card>
      {made && (
        <NewSecret
          title={`The key of ${made.name}`}
          secret={made.key}
          onClose={() => navigate({ to: '/applications/$id', params: { id: made.id } })}
        />
      )}
    </>
  );
}

interface TemplatesProps {
  chosen: string | undefined;
  onChosen: (template: ApplicationTemplate) => void;
}

function Templates({ chosen, onChosen }: TemplatesProps) {
  const query = useQuery({
    queryKey: ['application-templates'],
    queryFn: ({ signal }) => sluice.applicationTemplates.list({ signal }).toArray(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const giving = useGiving();
  return (
    <Loaded query={query}>
      {(templates) => (
        <div className={styles.templates}>
          {templates.map((template) => {
            const refusal = giving.ofGrants(template);
            return (
              <button
                key={template.id}
                type="button"
                className={styles.template}
                aria-pressed={template.id === chosen}
                disabled={refusal !== undefined}
                onClick={() => onChosen(template)}
              >
                <strong>{template.name}</strong>
                <span>{template.description}</span>
                {refusal && <span>{refusal}</span>}
              </button>
            );
          })}
        </div>
      )}
    </Loaded>
  );
}
