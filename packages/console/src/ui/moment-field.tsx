import { type ComponentProps, useEffect, useState } from 'react';
import { usePreferences } from '../api/preferences.ts';
import { TextField } from './form.tsx';
import { fieldText, momentOf } from './moment.ts';

interface MomentValue {
  /** ISO 8601, in UTC, so that a link with it means the same everywhere. */
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}

/** The text of a browser's field for a moment, in the zone that the person has chosen. */
export function useMomentText({ value, onValue }: MomentValue): { text: string; onText: (text: string) => void } {
  const { zone } = usePreferences();
  const shown = fieldText(value, zone);
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const onText = (typed: string) => {
    setText(typed);
    const moment = momentOf(typed, zone);
    if (typed === '' || moment !== undefined) onValue(moment);
  };
  return { text, onText };
}

type Given = Pick<ComponentProps<typeof TextField>, 'label' | 'name' | 'hint' | 'error' | 'required'>;

/** A moment in a form. */
export function MomentField({ value, onValue, hint, ...rest }: MomentValue & Given) {
  const { zone } = usePreferences();
  const { text, onText } = useMomentText({ value, onValue });
  const of = zone === 'utc' ? 'In UTC.' : 'In your time zone.';
  return (
    <TextField
      {...rest}
      hint={
        <>
          {of} {hint}
        </>
      }
      type="datetime-local"
      value={text}
      onText={onText}
    />
  );
}
