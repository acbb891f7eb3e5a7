import type { ReactorFormula } from '@sluice/sdk';
import { Picker } from '../../ui/picker.tsx';
import { Fault } from '../../ui/states.tsx';

interface FormulaChoiceProps {
  /** The id of the chosen one, and the formula itself once it is loaded. */
  value: string | undefined;
  formula: ReactorFormula | undefined;
  /** Why it could not be loaded. */
  error: Error | undefined;
  /** Empty for none. */
  onValue: (id: string) => void;
}

/** What a new Reactor runs: its own code, or a formula. */
export function FormulaChoice({ value, formula, error, onValue }: FormulaChoiceProps) {
  return (
    <>
      <Picker
        of="formulas"
        label="Source of the code"
        member="formula.id"
        hint={formula?.description || 'A formula is code that several Reactors run.'}
        placeholder="Its own code"
        value={value}
        onValue={(id) => onValue(id ?? '')}
      />
      <Fault error={error ?? null} />
    </>
  );
}
