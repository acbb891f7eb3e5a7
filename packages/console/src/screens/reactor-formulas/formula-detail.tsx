import type { ReactorFormula, ReactorFormulaBody } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, useMemo, useState } from 'react';
import { sluice } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { useEdit } from '../../api/use-edit.ts';
import { type Declared, DeclaredFields } from '../../code/configuration-editor.tsx';
import { Id } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Facts, Page, Soft } from '../../ui/layout.tsx';
import { SettingsCard } from '../../ui/settings-card.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { formulaQuery } from '../reactors/formula-query.ts';
import { ReactorCode } from '../reactors/reactor-code.tsx';
import type { Parameter } from './declared-editor.tsx';
import { FormulaReactors } from './formula-reactors.tsx';

/** Loaded when it is needed. */
const Editor = lazy(() => import('./formula-editor.tsx'));

const route = getRouteApi('/reactors/formulas/$id');

export function FormulaDetail() {
  return (
    <Guarded needs="reactor:read" what="You cannot see formulas">
      <Detail />
    </Guarded>
  );
}

function Detail() {
  const { id } = route.useParams();
  const query = useQuery(formulaQuery(id));
  return <Loaded query={query}>{(formula) => <Found formula={formula} />}</Loaded>;
}

function Found({ formula }: { formula: ReactorFormula }) {
  const { id, name, description } = formula;
  const navigate = useNavigate();
  const remove = useChange({
    of: formula,
    act: (options) => sluice.reactorFormulas.delete(id, options),
    said: () => `The formula ${name} was deleted`,
    onDone: () => navigate({ to: '/reactors/formulas' }),
  });
  return (
    <Page
      title={name}
      intro={description}
      back={<Link to="/reactors/formulas">Formulas</Link>}
      acts={
        <Confirm
          act="Delete"
          title={`Delete ${name}?`}
          text="If a Reactor uses the formula, the formula cannot be deleted. A deletion cannot be undone."
          needs="reactor:delete"
          change={remove}
        />
      }
    >
      <SettingsCard needs="reactor:update" editor={(onDone) => <Editor formula={formula} onDone={onDone} />}>
        <Settings formula={formula} />
      </SettingsCard>
      <FormulaCode formula={formula} />
      <FormulaReactors formulaId={id} />
    </Page>
  );
}

function Settings({ formula }: { formula: ReactorFormula }) {
  const { id, configuration, request_parameters: parameters, modified_at, created_at } = formula;
  return (
    <Facts
      facts={{
        Id: <Id id={id} />,
        Changed: <Time at={modified_at ?? created_at} />,
        Configuration: <Members members={configuration} />,
        Arguments: <Members members={parameters} />,
      }}
    />
  );
}

function Members({ members }: { members: readonly Parameter[] }) {
  if (members.length === 0) return <Soft>none</Soft>;
  return (
    <ul>
      {members.map(({ name, type, optional, description }) => (
        <li key={name}>
          <code>{name}</code>{' '}
          <Soft>
            {optional ? `${type}, optional` : type}
            {description && `: ${description}`}
          </Soft>
        </li>
      ))}
    </ul>
  );
}

function FormulaCode({ formula }: { formula: ReactorFormula }) {
  const { id, name, configuration: declared, request_parameters: parameters } = formula;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const configuration = useMemo(() => cast(declared, values), [declared, values]);
  const edit = useEdit({
    resource: formula,
    toDraft: ({ code }) => code,
    read: () => sluice.reactorFormulas.get(id),
    act: (options, code, base) => sluice.reactorFormulas.update(id, { ...bodyOf(base), code }, options),
    said: () => `The code of ${name} was saved`,
  });
  return (
    <ReactorCode
      label="Code of the formula"
      what="the formula"
      edit={edit}
      configuration={configuration}
      args={Object.fromEntries(parameters.map((parameter) => [parameter.name, samples[parameter.type]]))}
      fields={<DeclaredFields declared={declared} value={values} onValue={setValues} />}
    />
  );
}

/** A formula as a whole body, because it is only ever replaced. */
function bodyOf({ name, description, icon, ...formula }: ReactorFormula): ReactorFormulaBody {
  const { code, configuration, request_parameters } = formula;
  return {
    ...{ name, code, configuration, request_parameters },
    ...(description !== undefined && { description }),
    ...(icon !== undefined && { icon }),
  };
}

const samples = { string: 'a text', number: 4200, boolean: true } as const;

/** As the service casts the configuration of a Reactor. */
function cast(declared: Declared, values: Readonly<Record<string, string>>): Record<string, string | number | boolean> {
  const casts = { string: (text: string) => text, number: Number, boolean: (text: string) => text === 'true' };
  return Object.fromEntries(declared.map(({ name, type }) => [name, casts[type](values[name] ?? '')]));
}
