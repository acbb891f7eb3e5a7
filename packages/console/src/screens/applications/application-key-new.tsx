import type { Application, ApplicationKeyWithKey } from '@sluice/sdk';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useUnsaved } from '../../api/unsaved.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Choice, Form, Submit, TextField } from '../../ui/form.tsx';
import { MomentField } from '../../ui/moment-field.tsx';

const dayMs = 86_400_000;

const expiries = {
  never: 'Never',
  '30': 'In 30 days',
  '90': 'In 90 days',
  '365': 'In a year',
  at: 'At a chosen time',
} as const;

interface ApplicationKeyNewProps {
  application: Application;
  onMade: (key: ApplicationKeyWithKey) => void;
  onClose: () => void;
}

export function ApplicationKeyNew({ application: { id, name: ofName }, onMade, onClose }: ApplicationKeyNewProps) {
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState<keyof typeof expiries>('never');
  const [moment, setMoment] = useState<string>();
  const unsaved = useUnsaved(name !== '' || expiry !== 'never');
  const create = useChange({
    unsaved,
    act: (options) => {
      const expiresAt = expiry === 'at' ? moment : momentAfter(expiry);
      const body = { ...(name !== '' && { name }), ...(expiresAt !== undefined && { expires_at: expiresAt }) };
      return sluice.applications.keys.create(id, body, options);
    },
    said: ({ version }) => `Key ${version} was created`,
    onDone: onMade,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Create a key for ${ofName}`}
      text="The other keys stay valid. The new key is shown only once."
    >
      <Form
        onSubmit={() => create.mutate()}
        error={create.error}
        acts={
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Submit busy={create.isPending}>Create key</Submit>
          </>
        }
      >
        <TextField
          label="Name"
          hint="For example, the place where the key is used. You cannot change the name later."
          placeholder="Backend in Frankfurt"
          value={name}
          onText={setName}
          maxLength={200}
          name="name"
        />
        <Choice
          label="Expires"
          hint={expiry === 'never' ? undefined : 'From this time on the key is refused.'}
          value={expiry}
          options={expiries}
          onValue={setExpiry}
          name={expiry === 'at' ? undefined : 'expires_at'}
        />
        {expiry === 'at' && (
          <MomentField label="Expiry time" value={moment} onValue={setMoment} required name="expires_at" />
        )}
      </Form>
    </Dialog>
  );
}

function momentAfter(expiry: Exclude<keyof typeof expiries, 'at'>): string | undefined {
  return expiry === 'never' ? undefined : new Date(Date.now() + Number(expiry) * dayMs).toISOString();
}
