import type { Tenant } from '@sluice/sdk';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { Card } from '../../ui/layout.tsx';

/** Asks for the name, because a closed Tenant's values are lost for ever. */
export function CloseTenant({ tenant: { name } }: { tenant: Tenant }) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const close = useChange({
    act: (options) => sluice.tenant.delete(options),
    said: () => `${name} was deleted`,
    onDone: () => location.assign('/sign-in'),
  });
  return (
    <Card
      title="Delete the Tenant"
      intro="All its keys are refused at once, and its data keys are destroyed, so its values cannot be decrypted any more."
      acts={
        <Button kind="danger" needs="tenant:delete" onClick={() => setOpen(true)}>
          Delete the Tenant
        </Button>
      }
      flush
    >
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title={`Delete ${name}?`}
        text="Everything that uses its tokens stops working. This cannot be undone."
      >
        <Form
          onSubmit={() => close.mutate()}
          error={close.error}
          acts={
            <>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button kind="danger" type="submit" disabled={typed !== name} busy={close.isPending}>
                Delete Tenant
              </Button>
            </>
          }
        >
          <TextField label="Type the name of the Tenant" hint={name} value={typed} onText={setTyped} />
        </Form>
      </Dialog>
    </Card>
  );
}
