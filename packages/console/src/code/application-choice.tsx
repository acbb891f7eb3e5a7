import { Picker } from '../ui/picker.tsx';

/** The Application with whose rights code acts; empty for none. */
export function ApplicationChoice({ value, onValue }: { value: string; onValue: (id: string) => void }) {
  return (
    <Picker
      of="applications"
      label="Application of the code"
      member="application.id"
      placeholder="None"
      hint="In the code, req.svc has the permissions of this Application. Without an Application there is no req.svc."
      suits={({ type }) => type !== 'management'}
      value={value === '' ? undefined : value}
      onValue={(id = '') => onValue(id)}
    />
  );
}
