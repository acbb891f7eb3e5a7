import type { Member } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { roleNames } from '../../api/role-names.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, Submit } from '../../ui/form.tsx';
import { Facts } from '../../ui/layout.tsx';
import { InvitationLink } from './invitation-link.tsx';
import { personName } from './roles.ts';

interface InviteAgainProps {
  member: Member;
  email: string;
  onClose: () => void;
}

/** For a member who cannot sign in by an identity provider: whoever accepts takes over the membership. */
export function InviteAgain({ member, email, onClose }: InviteAgainProps) {
  const name = personName(member);
  const isOwn = member.user.id === useMe().user?.id;
  const signedIn = useSignedIn(member);
  const invite = useChange({
    act: (options) => sluice.invitations.create({ email }, options),
    said: () => `${name} was invited again`,
  });
  if (invite.data) return <InvitationLink invitation={invite.data} onClose={onClose} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Invite ${name} again?`}
      text={
        isOwn
          ? 'You get a link. If another person accepts the link, that person takes over your membership, and you are signed out here. If you accept the link yourself in this browser, you stay signed in, and nothing changes.'
          : `You get a link to send to ${email}. The person who accepts the link takes over this membership.`
      }
    >
      <Form
        onSubmit={() => invite.mutate()}
        error={invite.error}
        acts={
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Submit busy={invite.isPending}>Invite again</Submit>
          </>
        }
      >
        <Facts facts={{ 'Role (does not change)': roleNames[member.role], 'Signed in now': signedIn }} />
      </Form>
    </Dialog>
  );
}

/** How many browsers are signed in as the member, and that their sign-ins end. */
function useSignedIn({ user }: Member): string {
  const { data, error } = useQuery({
    queryKey: ['sign-ins', 'all'],
    queryFn: ({ signal }) => sluice.console.signIns.list({ size: 100 }, { signal }).toArray(),
  });
  if (error) return 'Unknown, because the sign-ins could not be read';
  if (!data) return 'Loading…';
  const count = data.filter(({ user_id: id }) => id === user.id).length;
  if (count === 0) return 'In no browser';
  return count === 1
    ? 'In one browser. This browser is signed out when the link is accepted.'
    : `In ${count} browsers. These browsers are signed out when the link is accepted.`;
}
