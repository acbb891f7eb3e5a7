import type { Invitation, InvitationWithUrl } from '@sluice/sdk';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useGiving } from '../../api/giving.ts';
import { roleNames } from '../../api/role-names.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
import { byEmail, List } from '../../ui/list.tsx';
import { Empty, Fault } from '../../ui/states.tsx';
import { type Column, Cut } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { InvitationLink } from './invitation-link.tsx';

const route = getRouteApi('/settings/people');

export function Invitations() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [sent, setSent] = useState<InvitationWithUrl>();
  const giving = useGiving();
  const resend = useChange({
    act: (options, { id }: Invitation) => sluice.invitations.resend(id, options),
    said: ({ email }) => `${email} has a new link. The old link no longer works`,
    onDone: setSent,
  });
  const columns: readonly Column<Invitation>[] = [
    {
      title: 'E-mail address',
      sort: 'email',
      cell: ({ email, member_id: member }) => (
        <>
          <Cut>{email}</Cut>
          {member && <Soft>The invited person takes over the membership of the member with this address</Soft>}
        </>
      ),
    },
    { title: 'Role', tight: true, width: '7.5rem', cell: ({ role }) => roleNames[role] },
    {
      title: 'State',
      width: '10rem',
      cell: (invitation) => <State invitation={invitation} />,
    },
    { title: 'Expires', from: 46, tight: true, width: '8rem', cell: ({ expires_at }) => <Time at={expires_at} /> },
    {
      title: 'Change',
      atEnd: true,
      width: '12rem',
      cell: (invitation) => (
        <>
          <Button
            small
            needs="tenant:invitation:update"
            refusal={giving.ofRole(invitation.role)}
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
      <List
        label="Invitations"
        queryKey={['invitations']}
        search={search.invitations ?? {}}
        onSearch={(invitations, options) => navigate({ search: { ...search, invitations }, ...options })}
        filters={byEmail}
        read={(query, options) => sluice.invitations.list(query, options)}
        columns={columns}
        csv={({ id, email, role, status, acceptable, created_at, expires_at }) => ({
          ...{ id, email, role, status, acceptable, created_at, expires_at },
        })}
        empty={
          <Empty icon="applications" title="No open invitations">
            An invitation is a link for one e-mail address. It is valid for 72 hours.
          </Empty>
        }
      />
      {sent && <InvitationLink invitation={sent} onClose={() => setSent(undefined)} />}
    </>
  );
}

function State({ invitation: { status, acceptable } }: { invitation: Invitation }) {
  if (status === 'EXPIRED') return <Badge>expired</Badge>;
  if (acceptable) return 'waiting';
  return (
    <>
      <Badge tone="warn">refused</Badge>
      <br />
      <Soft>The person who invited may no longer give this role. Create a new link.</Soft>
    </>
  );
}

function DeleteInvitation({ invitation: { id, email, role } }: { invitation: Invitation }) {
  const giving = useGiving();
  const remove = useChange({
    act: (options) => sluice.invitations.delete(id, options),
    said: () => `The invitation of ${email} was deleted`,
  });
  return (
    <Confirm
      small
      act="Delete"
      title={`Delete the invitation of ${email}?`}
      text="When you confirm, the link of the invitation stops working."
      needs="tenant:invitation:delete"
      refusal={giving.ofRole(role)}
      change={remove}
    />
  );
}
