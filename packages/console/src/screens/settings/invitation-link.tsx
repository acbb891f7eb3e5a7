import type { InvitationWithUrl } from '@sluice/sdk';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { NewSecret } from '../../ui/new-secret.tsx';

interface InvitationLinkProps {
  invitation: InvitationWithUrl;
  onClose: () => void;
}

/** The link is shown once. There is none if the installation cannot accept invitations. */
export function InvitationLink({ invitation: { email, url }, onClose }: InvitationLinkProps) {
  if (url) return <NewSecret title={`The invitation of ${email}`} secret={url} onClose={onClose} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Nobody can accept yet"
      text="This installation has no issuer by which people sign in. Whoever runs it sets OIDC_ISSUERS; then send the invitation again."
    >
      <Button kind="primary" onClick={onClose}>
        Close
      </Button>
    </Dialog>
  );
}
