import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import type { Role } from '../../api/role-names.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Choice, Form, Submit, TextField } from '../../ui/form.tsx';
import { InvitationLink } from './invitation-link.tsx';
import { roleMeaning, useRoleNames } from './roles.ts';

export function Invite({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('AUDITOR');
  const roles = useRoleNames();
  const invite = useChange({
    act: (options) => sluice.invitations.create({ email, role }, options),
    said: () => `${email} was invited`,
  });
  if (invite.data) return <InvitationLink invitation={invite.data} onClose={onClose} />;
  return (
    <Dialog open onClose={onClose} title="Invite a person" text="You get a link. Send it to the person yourself.">
      <Form
        onSubmit={() => invite.mutate()}
        error={invite.error}
        acts={
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Submit busy={invite.isPending}>Invite</Submit>
          </>
        }
      >
        <TextField label="E-mail address" type="email" value={email} onText={setEmail} required name="email" />
        <Choice label="Role" name="role" hint={roleMeaning[role]} value={role} options={roles} onValue={setRole} />
      </Form>
    </Dialog>
  );
}
