import type { ReactNode } from 'react';
import { ApplicationChoice } from '../../code/application-choice.tsx';
import { ConfigurationEditor } from '../../code/configuration-editor.tsx';
import { Check, Form, TextField } from '../../ui/form.tsx';
import { GuardField } from './guard-field.tsx';
import { ProxyCalls } from './proxy-calls.tsx';
import type { ProxyDraft } from './proxy-draft.ts';
import { RouteFields } from './route-fields.tsx';

interface ProxyFormProps {
  draft: ProxyDraft;
  onDraft: (draft: ProxyDraft) => void;
  onSubmit: () => void;
  error: Error | null;
  acts: ReactNode;
}

/** All of a Proxy but its code. */
export function ProxyForm({ draft, onDraft, onSubmit, error, acts }: ProxyFormProps) {
  const change = (part: Partial<ProxyDraft>) => onDraft({ ...draft, ...part });
  return (
    <Form onSubmit={onSubmit} error={error} acts={acts}>
      <TextField
        label="Name"
        value={draft.name}
        onText={(name) => change({ name })}
        maxLength={200}
        required
        name="name"
      />
      <TextField
        label="Destination URL"
        mono
        value={draft.destination_url}
        onText={(destination_url) => change({ destination_url })}
        placeholder="https://api.example.com/v1"
        required
        hint="A path or query that callers add to the address of the Proxy is added to this URL."
        name="destination_url"
      />
      <Check
        label="Callers need an API key"
        hint="If this setting is off, anybody who knows the key of the Proxy may call the Proxy. A call that uses tokens still needs an API key."
        checked={draft.require_auth}
        onChecked={(require_auth) => change({ require_auth })}
      />
      <ApplicationChoice
        of="transforms"
        value={draft.applicationId}
        onValue={(applicationId) => change({ applicationId })}
      />
      <ConfigurationEditor value={draft.configuration} onValue={(configuration) => change({ configuration })} />
      <GuardField value={draft.guard} onValue={(guard) => change({ guard })} />
      <RouteFields draft={draft} onChange={change} />
      <ProxyCalls draft={draft} onChange={change} />
    </Form>
  );
}
