import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/layout.tsx';
import { Guarded } from '../../ui/states.tsx';
import { Invitations } from './invitations.tsx';
import { Invite } from './invite.tsx';
import { Members } from './members.tsx';
import { SettingsPage } from './settings-page.tsx';

export function People() {
  const [isInviting, setInviting] = useState(false);
  return (
    <SettingsPage
      intro="People who may sign in to this Tenant. No role can see the values of tokens."
      acts={
        <Button kind="primary" icon="plus" needs="tenant:invitation:create" onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      <Card title="Members" flush>
        <Guarded needs="tenant:member:read" what="You cannot see the members">
          <Members />
        </Guarded>
      </Card>
      <Card title="Invitations" intro="Accepted invitations are not listed. These people are members." flush>
        <Guarded needs="tenant:invitation:read" what="You cannot see the invitations">
          <Invitations />
        </Guarded>
      </Card>
      {isInviting && <Invite onClose={() => setInviting(false)} />}
    </SettingsPage>
  );
}
