import type { ReactorFormula } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { Choice } from '../../ui/form.tsx';

interface FormulaChoiceProps {
  /** The id of the chosen one, and the formula itself once it is loaded. */
  value: string | undefined;
  formula: ReactorFormula | undefined;
  /** Why it could not be loaded. */
  error: Error | undefined;
  /** Empty for none. */
  onValue: (id: string) => void;
}

/** What a new Reactor runs: its own code, or one of the newest formulas. Pages of older formulas lead here too. */
export function FormulaChoice({ value, formula, error, onValue }: FormulaChoiceProps) {
  const newest = useQuery({
    queryKey: ['formulas', 'to choose'],
    queryFn: ({ signal }) => sluice.reactorFormulas.list({}, { signal }).page(),
  });
  const known = (newest.data?.data ?? []).map(({ id, name }) => [id, name]);
  const options: Record<string, string> = {
    '': 'Its own code',
    ...(value && { [value]: formula?.name ?? value }),
    ...Object.fromEntries(known),
  };
  return (
    <Choice
      label="Source of the code"
      hint={formula?.description ?? 'A formula is code that several Reactors run.'}
      value={value ?? ''}
      options={options}
      onValue={onValue}
      error={(error ?? newest.error)?.message}
    />
  );
}
