import type { Invitation, InvitationWithUrl } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
import { Empty, Fault, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { InvitationLink } from './invitation-link.tsx';
import { roleNames } from './roles.ts';

export function Invitations() {
  const [sent, setSent] = useState<InvitationWithUrl>();
  const query = useQuery({
    queryKey: ['invitations'],
    queryFn: ({ signal }) => sluice.invitations.list({ size: 100 }, { signal }).page(),
  });
  const resend = useChange({
    act: (options, { id }: Invitation) => sluice.invitations.resend(id, options),
    said: ({ email }) => `${email} has a new link. The old link is refused`,
    onDone: setSent,
  });
  const columns: readonly Column<Invitation>[] = [
    {
      title: 'E-mail address',
      cell: ({ email, member_id: member }) => (
        <>
          {email}
          {member && (
            <>
              <br />
              <Soft>Takes over the membership of this address</Soft>
            </>
          )}
        </>
      ),
    },
    { title: 'Role', tight: true, cell: ({ role }) => roleNames[role] },
    {
      title: 'State',
      tight: true,
      cell: (invitation) => <State invitation={invitation} />,
    },
    { title: 'Expires', from: 46, tight: true, cell: ({ expires_at }) => <Time at={expires_at} /> },
    {
      title: 'Change',
      atEnd: true,
      cell: (invitation) => (
        <>
          <Button
            small
            needs="tenant:invitation:update"
            busy={resend.isPending && resend.variables?.id === invitation.id}
            onClick={() => resend.mutate(invitation)}
          >
            New link
          </Button>{' '}
          <DeleteInvitation invitation={invitation} />
        </>
      ),
    },
  ];
  return (
    <>
      <Fault error={resend.error} />
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="applications" title="No open invitations">
              An invitation is a link for one e-mail address. It is valid for 72 hours.
            </Empty>
          ) : (
            <Table label="Invitations" columns={columns} rows={data} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
      {sent && <InvitationLink invitation={sent} onClose={() => setSent(undefined)} />}
    </>
  );
}

function State({ invitation: { status, acceptable } }: { invitation: Invitation }) {
  if (status === 'EXPIRED') return <Badge>expired</Badge>;
  if (acceptable) return <Badge tone="info">waiting</Badge>;
  return (
    <>
      <Badge tone="warn">refused</Badge>
      <br />
      <Soft>The person who invited may no longer give this role. Create a new link.</Soft>
    </>
  );
}

function DeleteInvitation({ invitation: { id, email } }: { invitation: Invitation }) {
  const remove = useChange({
    act: (options) => sluice.invitations.delete(id, options),
    said: () => `The invitation of ${email} was deleted`,
  });
  return (
    <Confirm
      small
      act="Delete"
      title={`Delete the invitation of ${email}?`}
      text="When you confirm, its link is refused."
      needs="tenant:invitation:delete"
      change={remove}
    />
  );
}
