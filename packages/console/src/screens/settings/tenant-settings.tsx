import type { Tenant } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useMissingRight } from '../../api/me.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/copy.tsx';
import { Check, Form, faultOf, TextField } from '../../ui/form.tsx';
import { Card, Facts } from '../../ui/layout.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { CloseTenant } from './close-tenant.tsx';
import { SettingsPage } from './settings-page.tsx';

export function TenantSettings() {
  return (
    <SettingsPage intro="What this Tenant is called, and how its tokens are made.">
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
          <TenantForm key={tenant.modified_at} tenant={tenant} />
          <CloseTenant tenant={tenant} />
        </>
      )}
    </Loaded>
  );
}

function TenantForm({ tenant }: { tenant: Tenant }) {
  const [name, setName] = useState(tenant.name);
  const [fingerprints, setFingerprints] = useState(tenant.settings.fingerprint_tokens === 'true');
  const [deduplicates, setDeduplicates] = useState(tenant.settings.deduplicate_tokens === 'true');
  const isLocked = useMissingRight('tenant:update') !== undefined;
  const save = useChange({
    act: (options) =>
      sluice.tenant.update(
        { name, settings: { fingerprint_tokens: textOf(fingerprints), deduplicate_tokens: textOf(deduplicates) } },
        options,
      ),
    said: () => 'The settings were saved',
  });
  return (
    <Card title="The Tenant">
      <Form
        onSubmit={() => save.mutate()}
        error={save.error}
        acts={
          <Button kind="primary" type="submit" needs="tenant:update" busy={save.isPending}>
            Save
          </Button>
        }
      >
        <TextField
          label="Name"
          value={name}
          onText={setName}
          maxLength={200}
          required
          disabled={isLocked}
          error={faultOf(save.error, 'name')}
        />
        <Check
          label="Fingerprint every token"
          hint="A keyed hash of the value shows which tokens are equal, without showing what they hold."
          checked={fingerprints}
          onChecked={setFingerprints}
          disabled={isLocked}
        />
        <Check
          label="Give one token to equal values"
          hint="Creating a token for a value that has one answers the existing token."
          checked={deduplicates}
          onChecked={setDeduplicates}
          disabled={isLocked}
        />
      </Form>
    </Card>
  );
}

function textOf(isSet: boolean): 'true' | 'false' {
  return isSet ? 'true' : 'false';
}
