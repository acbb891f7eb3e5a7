import type { ReactNode } from 'react';
import { Form, TextField } from '../../ui/form.tsx';
import { DeclaredEditor, type Parameter } from './declared-editor.tsx';

export interface FormulaDraft {
  name: string;
  description: string;
  configuration: readonly Parameter[];
  request_parameters: readonly Parameter[];
}

/** The members of a formula that the draft has, as they are sent. */
export function toBody({ name, description, configuration, request_parameters: parameters }: FormulaDraft) {
  return {
    name,
    ...(description !== '' && { description }),
    configuration: configuration.map(withoutEmpty),
    request_parameters: parameters.map(withoutEmpty),
  };
}

function withoutEmpty({ description, ...member }: Parameter): Parameter {
  return { ...member, ...(description && { description }) };
}

interface FormulaFormProps {
  draft: FormulaDraft;
  onDraft: (draft: FormulaDraft) => void;
  onSubmit: () => void;
  error: Error | null;
  acts: ReactNode;
}

/** All of a formula but its code. */
export function FormulaForm({ draft, onDraft, onSubmit, error, acts }: FormulaFormProps) {
  const change = (part: Partial<FormulaDraft>) => onDraft({ ...draft, ...part });
  return (
    <Form wide onSubmit={onSubmit} error={error} acts={acts}>
      <TextField
        label="Name"
        value={draft.name}
        onText={(name) => change({ name })}
        maxLength={200}
        required
        name="name"
      />
      <TextField
        label="Description"
        value={draft.description}
        onText={(description) => change({ description })}
        maxLength={1000}
        name="description"
      />
      <DeclaredEditor
        name="configuration"
        legend="Configuration"
        one="Value"
        intro="Each Reactor of this formula must have these values. The code reads them as req.configuration."
        members={draft.configuration}
        onMembers={(configuration) => change({ configuration })}
      />
      <DeclaredEditor
        name="request_parameters"
        legend="Arguments"
        one="Argument"
        intro="Callers must send these arguments, except the optional ones. Callers may also send other arguments. The code reads all arguments as req.args."
        members={draft.request_parameters}
        onMembers={(parameters) => change({ request_parameters: parameters })}
        canBeOptional
      />
    </Form>
  );
}
