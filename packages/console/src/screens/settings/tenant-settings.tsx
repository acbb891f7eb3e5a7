import type { Tenant } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { useMissingRight } from '../../api/me.ts';
import { useEdit } from '../../api/use-edit.ts';
import { ChangedMeanwhile } from '../../code/changed-meanwhile.tsx';
import { Id } from '../../ui/copy.tsx';
import { Check, Form, Submit, TextField } from '../../ui/form.tsx';
import { Card, Facts } from '../../ui/layout.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { CloseTenant } from './close-tenant.tsx';
import { SettingsPage } from './settings-page.tsx';

export function TenantSettings() {
  return (
    <SettingsPage intro="The name of the Tenant, and how its tokens are created.">
      <Guarded needs="tenant:read" what="You cannot see the Tenant's settings">
        <Settings />
      </Guarded>
    </SettingsPage>
  );
}

function Settings() {
  const query = useQuery({ queryKey: ['tenant'], queryFn: ({ signal }) => sluice.tenant.get({ signal }) });
  return (
    <Loaded query={query}>
      {(tenant) => (
        <>
          <Card>
            <Facts
              facts={{
                Id: <Id id={tenant.id} />,
                Created: tenant.created_at && <Time at={tenant.created_at} />,
                Changed: tenant.modified_at && <Time at={tenant.modified_at} />,
              }}
            />
          </Card>
          <TenantForm tenant={tenant} />
          <CloseTenant tenant={tenant} />
        </>
      )}
    </Loaded>
  );
}

function TenantForm({ tenant }: { tenant: Tenant }) {
  const isLocked = useMissingRight('tenant:update') !== undefined;
  const edit = useEdit({
    resource: tenant,
    toDraft: ({ name, settings }) => ({
      name,
      fingerprints: settings.fingerprint_tokens === 'true',
      deduplicates: settings.deduplicate_tokens === 'true',
    }),
    read: () => sluice.tenant.get(),
    act: (options, { name, fingerprints, deduplicates }) =>
      sluice.tenant.update(
        { name, settings: { fingerprint_tokens: textOf(fingerprints), deduplicate_tokens: textOf(deduplicates) } },
        options,
      ),
    said: () => 'The settings were saved',
  });
  const { name, fingerprints, deduplicates } = edit.draft;
  const change = (part: Partial<typeof edit.draft>) => edit.setDraft({ ...edit.draft, ...part });
  return (
    <Card title="General">
      <Form
        onSubmit={edit.save}
        error={edit.error}
        acts={
          <Submit needs="tenant:update" busy={edit.isSaving}>
            Save
          </Submit>
        }
      >
        <TextField
          label="Name"
          value={name}
          onText={(text) => change({ name: text })}
          maxLength={200}
          required
          disabled={isLocked}
          name="name"
        />
        <Check
          label="Fingerprint every token"
          hint="A fingerprint is a keyed hash. It shows which tokens have equal values, but not the values."
          checked={fingerprints}
          onChecked={(checked) => change({ fingerprints: checked })}
          disabled={isLocked}
        />
        <Check
          label="Deduplicate tokens"
          hint="If you create a token for a value that has a token already, you get the existing token."
          checked={deduplicates}
          onChecked={(checked) => change({ deduplicates: checked })}
          disabled={isLocked}
        />
      </Form>
      <ChangedMeanwhile edit={edit} what="the settings" />
    </Card>
  );
}

function textOf(isSet: boolean): 'true' | 'false' {
  return isSet ? 'true' : 'false';
}
