import { Picker } from '../ui/picker.tsx';

interface ApplicationChoiceProps {
  /** A Proxy is created without its transforms, so its form has no code yet. */
  of: 'code' | 'transforms';
  value: string;
  onValue: (id: string) => void;
}

/** The Application with whose rights code acts; empty for none. */
export function ApplicationChoice({ of, value, onValue }: ApplicationChoiceProps) {
  return (
    <Picker
      of="applications"
      label={`Application of the ${of}`}
      member="application.id"
      placeholder="None"
      hint={`${of === 'code' ? 'In the code' : 'Transforms are code that you can add to a Proxy. In them'}, req.svc has the permissions of this Application. Without an Application there is no req.svc.`}
      suits={({ type }) => type !== 'management'}
      value={value === '' ? undefined : value}
      onValue={(id = '') => onValue(id)}
    />
  );
}
