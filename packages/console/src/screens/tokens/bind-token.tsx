import type { DescribedToken, TokenUse } from '@sluice/sdk';
import { useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useUnsaved } from '../../api/unsaved.ts';
import { useChange } from '../../api/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, Row, Submit, TextArea, TextField } from '../../ui/form.tsx';
import { MomentField } from '../../ui/moment-field.tsx';
import { ProxiesPicker } from '../applications/callable-proxies.tsx';
import { type BindingDraft, draftOf, toTokenUse } from './binding-draft.ts';

/** Changes what a token may be used for. The service refuses what would allow more. */
export default function BindToken({ token, onClose }: { token: DescribedToken; onClose: () => void }) {
  const [from] = useState<TokenUse>(token.use ?? {});
  const [draft, setDraft] = useState(() => draftOf(from));
  const edit = (change: Partial<BindingDraft>) => setDraft({ ...draft, ...change });
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftOf(from));
  const unsaved = useUnsaved(isChanged);
  const bind = useChange({
    of: token,
    unsaved,
    act: (options) => sluice.tokens.patch(token.id, { use: toTokenUse(draft) }, options),
    said: () => 'The token was bound',
    onDone: onClose,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title="Bind this token"
      text="In the console you can only add restrictions. To remove one you need the key of a private Application with a rule that reveals the token."
    >
      <Form
        onSubmit={() => bind.mutate()}
        error={bind.error}
        acts={
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Submit busy={bind.isPending} disabled={!isChanged}>
              Bind
            </Submit>
          </>
        }
      >
        <TextArea
          label="Destinations"
          hint="Hosts without a port, one per line. *.example.com is every host below example.com. Empty: every host."
          placeholder="api.example.com"
          mono
          rows={3}
          value={draft.destinations}
          onText={(destinations) => edit({ destinations })}
          name="use.destinations"
        />
        <Row>
          <TextField
            label="Methods"
            hint="Empty: every method."
            placeholder="POST, PUT"
            mono
            value={draft.methods}
            onText={(methods) => edit({ methods })}
            name="use.methods"
          />
          <TextField
            label="Places in the request"
            hint="body, query, path, header:<name>. Empty: every place."
            placeholder="body, header:x-card"
            mono
            value={draft.places}
            onText={(places) => edit({ places })}
            name="use.places"
          />
        </Row>
        <Row>
          <TextField
            label="Uses"
            hint={
              from.max_uses === undefined ? 'Empty: without a limit.' : `At most ${from.max_uses}, the current limit.`
            }
            type="number"
            min={1}
            value={draft.maxUses}
            onText={(maxUses) => edit({ maxUses })}
            name="use.max_uses"
          />
          <MomentField
            label="Until"
            hint="Empty: without an end."
            value={draft.until}
            onValue={(until) => edit({ until })}
            name="use.until"
          />
        </Row>
        <ProxiesPicker
          hint="With a list, only the Proxies of the list reveal the token, and no Reactor does."
          among={from.proxies}
          chosen={draft.proxies}
          onChosen={(proxies) => edit({ proxies })}
          name="use.proxies"
        />
      </Form>
    </Dialog>
  );
}
