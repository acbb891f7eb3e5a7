import type { InvitationWithUrl } from '@sluice/sdk';
import { useMe } from '../../api/me.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { NewSecret } from '../../ui/new-secret.tsx';

interface InvitationLinkProps {
  invitation: InvitationWithUrl;
  onClose: () => void;
}

/** The link is shown once. There is none if the installation cannot accept invitations. */
export function InvitationLink({ invitation, onClose }: InvitationLinkProps) {
  const { email, url } = invitation;
  const { tenant } = useMe();
  if (!url) return <NoLink onClose={onClose} />;
  const text = textFor(tenant.name, { ...invitation, url });
  const mail = `mailto:${encodeURIComponent(email)}?subject=${encodeURIComponent(`Your invitation to ${tenant.name}`)}&body=${encodeURIComponent(text)}`;
  return (
    <NewSecret
      title={`The invitation of ${email}`}
      secret={text}
      what="the invitation"
      done="I have sent it"
      onClose={onClose}
      acts={
        <a className={buttonClass()} href={mail}>
          Write an e-mail
        </a>
      }
    >
      Send this text to {email} yourself: no mail is sent. The link is shown only once. It works only for that address.
      If you lose the link, "New link" creates another one.
      {invitation.member_id &&
        ' A member has this address. The person who accepts the invitation takes over the membership of this member.'}
    </NewSecret>
  );
}

function textFor(tenant: string, { url, expires_at }: InvitationWithUrl & { url: string }): string {
  const format = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const;
  const until = `${new Date(expires_at).toLocaleString('en', format)} UTC`;
  return `You are invited to ${tenant} in Sluice. Open this link to accept. It works once, until ${until}:\n${url}`;
}

function NoLink({ onClose }: { onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Invitations cannot be accepted yet"
      text="Your installation has no identity provider. Ask your operator to configure one (OIDC_ISSUERS). Then send the invitation again."
    >
      <Button kind="primary" onClick={onClose}>
        Close
      </Button>
    </Dialog>
  );
}
