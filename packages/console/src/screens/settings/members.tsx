import type { Member } from '@sluice/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Choice, Form, Submit } from '../../ui/form.tsx';
import { Badge, Soft } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/states.tsx';
import { type Column, Paging, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { InviteAgain } from './invite-again.tsx';
import { personName, type Role, roleMeaning, roleNames } from './roles.ts';

const route = getRouteApi('/settings/people');

const columns: readonly Column<Member>[] = [
  { title: 'Person', cell: (member) => <Person member={member} /> },
  { title: 'Role', tight: true, cell: ({ role }) => <Badge tone={toneOf(role)}>{roleNames[role]}</Badge> },
  { title: 'Since', from: 46, tight: true, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Change', atEnd: true, cell: (member) => <ChangeMember member={member} /> },
];

export function Members() {
  const { page } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['members', page],
    queryFn: ({ signal }) => sluice.members.list({}, { signal }).page(page),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={query}>
      {({ data, pagination }) => (
        <>
          <Table label="Members" columns={columns} rows={data} keyOf={({ id }) => id} />
          <Paging pagination={pagination} onPage={(to) => navigate({ search: { page: to } })} />
        </>
      )}
    </Loaded>
  );
}

function Person({ member }: { member: Member }) {
  const me = useMe();
  const name = personName(member);
  return (
    <>
      {name}
      {member.user.id === me.user?.id && <Soft> (you)</Soft>}
      {member.user.email && member.user.email !== name && (
        <>
          <br />
          <Soft>{member.user.email}</Soft>
        </>
      )}
    </>
  );
}

function ChangeMember({ member }: { member: Member }) {
  const [isOpen, setOpen] = useState(false);
  const [isInviting, setInviting] = useState(false);
  const { email } = member.user;
  const name = personName(member);
  const remove = useChange({
    of: member,
    act: (options) => sluice.members.delete(member.id, options),
    said: () => `${name} is no longer a member`,
  });
  return (
    <>
      <Button small needs="tenant:member:update" onClick={() => setOpen(true)}>
        Role
      </Button>{' '}
      {email && !member.has_identity && (
        <>
          <Button small needs="tenant:invitation:create" onClick={() => setInviting(true)}>
            Invite again
          </Button>{' '}
        </>
      )}
      <Confirm
        small
        act="Remove"
        title={`Remove ${name}?`}
        text="When you confirm, the person is signed out of this Tenant everywhere."
        needs="tenant:member:delete"
        change={remove}
      />
      {isInviting && email && <InviteAgain member={member} email={email} onClose={() => setInviting(false)} />}
      {isOpen && <ChangeRole member={member} onClose={() => setOpen(false)} />}
    </>
  );
}

function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const [role, setRole] = useState<Role>(member.role);
  const name = personName(member);
  const save = useChange({
    of: member,
    act: (options) => sluice.members.update(member.id, { role }, options),
    said: () => `${name} is ${roleNames[role]} now`,
    onDone: onClose,
  });
  return (
    <Dialog open onClose={onClose} title={`The role of ${name}`}>
      <Form
        onSubmit={() => save.mutate()}
        error={save.error}
        acts={
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Submit disabled={role === member.role} busy={save.isPending}>
              Save
            </Submit>
          </>
        }
      >
        <Choice label="Role" name="role" hint={roleMeaning[role]} value={role} options={roleNames} onValue={setRole} />
      </Form>
    </Dialog>
  );
}

function toneOf(role: Role) {
  return role === 'OWNER' ? 'warn' : role === 'AUDITOR' ? undefined : 'info';
}
