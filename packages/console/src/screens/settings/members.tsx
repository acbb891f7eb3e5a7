import type { Member } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useGiving } from '../../api/giving.ts';
import { useMe } from '../../api/me.ts';
import { type Role, roleNames } from '../../api/role-names.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Choice, Form, Submit } from '../../ui/form.tsx';
import { Soft } from '../../ui/layout.tsx';
import { byEmail, List } from '../../ui/list.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Cut } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { InviteAgain } from './invite-again.tsx';
import { providersQuery } from './providers-query.ts';
import { personName, roleMeaning, useRoleNames } from './roles.ts';
import { useMemberRefusal } from './use-people.ts';

const route = getRouteApi('/settings/people');

const columns: readonly Column<Member>[] = [
  { title: 'Person', sort: 'email', cell: (member) => <Person member={member} /> },
  {
    title: 'Role',
    tight: true,
    width: '7.5rem',
    cell: ({ role }) => roleNames[role],
  },
  {
    title: 'Since',
    sort: 'created_at',
    from: 46,
    tight: true,
    width: '9.5rem',
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  { title: 'Change', atEnd: true, width: '21.5rem', cell: (member) => <ChangeMember member={member} /> },
];

export function Members() {
  const { invitations, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <List
      label="Members"
      queryKey={['members']}
      search={search}
      onSearch={(changed, options) =>
        navigate({ search: { ...changed, ...(invitations && { invitations }) }, ...options })
      }
      filters={byEmail}
      read={(query, options) => sluice.members.list(query, options)}
      columns={columns}
      csv={({ id, user, role, source, created_at }) => ({
        ...{ id, user_id: user.id, email: user.email, first_name: user.first_name, last_name: user.last_name },
        ...{ role, source, created_at },
      })}
      empty={<Empty icon="applications" title="No members" />}
    />
  );
}

function Person({ member }: { member: Member }) {
  const me = useMe();
  const name = personName(member);
  return (
    <>
      <Cut>{member.user.id === me.user?.id ? `${name} (you)` : name}</Cut>
      {member.user.email && member.user.email !== name && (
        <Soft>
          <Cut>{member.user.email}</Cut>
        </Soft>
      )}
    </>
  );
}

function ChangeMember({ member }: { member: Member }) {
  const [isOpen, setOpen] = useState(false);
  const [isInviting, setInviting] = useState(false);
  const { email } = member.user;
  const name = personName(member);
  const giving = useGiving();
  const refusal = useMemberRefusal(member);
  const mayReturn = useMayReturn(member);
  const remove = useChange({
    of: member,
    act: (options) => sluice.members.delete(member.id, options),
    said: () => `${name} is no longer a member`,
  });
  return (
    <>
      <Button small needs="tenant:member:update" refusal={refusal} onClick={() => setOpen(true)}>
        Role
      </Button>{' '}
      {email && mayReturn && (
        <>
          <Button
            small
            needs="tenant:invitation:create"
            refusal={giving.ofRole(member.role)}
            onClick={() => setInviting(true)}
          >
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
        refusal={refusal}
        change={remove}
      />
      {isInviting && email && <InviteAgain member={member} email={email} onClose={() => setInviting(false)} />}
      {isOpen && <ChangeRole member={member} onClose={() => setOpen(false)} />}
    </>
  );
}

/**
 * Whether an invitation makes sense for a member without an account at an identity provider. People invite themselves only
 * to connect an account, so only where there is a provider.
 */
function useMayReturn({ user, has_identity: hasIdentity }: Member): boolean {
  const isOwn = user.id === useMe().user?.id;
  const { data: providers = [] } = useQuery({ ...providersQuery, enabled: isOwn && !hasIdentity });
  return !hasIdentity && (!isOwn || providers.length > 0);
}

function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const [role, setRole] = useState<Role>(member.role);
  const roles = useRoleNames(member.role);
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
        <Choice label="Role" name="role" hint={roleMeaning[role]} value={role} options={roles} onValue={setRole} />
      </Form>
    </Dialog>
  );
}
