import { Choice } from '../../ui/form.tsx';
import styles from './proxies.module.css';
import type { GuardMode } from './proxy-draft.ts';

export const guards: Readonly<Record<GuardMode, { name: string; does: string }>> = {
  off: { name: 'Off', does: 'Responses pass as the destination sends them.' },
  tokenize: {
    name: 'Tokenize',
    does: 'If the response contains a value that replaced a token in the request, the caller gets the expression of the token instead of the value, for example {{ token id }}.',
  },
  redact: {
    name: 'Redact',
    does: 'If the response contains a value that replaced a token in the request, the caller gets [redacted] instead of the value.',
  },
  block: {
    name: 'Block',
    does: 'If the response contains a value that replaced a token in the request, the caller gets 502 instead of the response. If the response has begun already, the connection of the caller is closed.',
  },
};

const names = Object.fromEntries(Object.entries(guards).map(([mode, { name }]) => [mode, name])) as Record<
  GuardMode,
  string
>;

interface GuardFieldProps {
  value: GuardMode;
  onValue: (value: GuardMode) => void;
}

/** What happens to values that come back in a response. */
export function GuardField({ value, onValue }: GuardFieldProps) {
  return (
    <Choice
      label="Response guard"
      value={value}
      options={names}
      onValue={onValue}
      hint={
        <>
          {guards[value].does}
          {value !== 'off' && (
            <span className={styles.net}>
              The guard finds values in the usual encodings, not in all of them. To limit where a value may be sent, use
              “Bound to” on the page of the token.
            </span>
          )}
        </>
      }
      name="response_guard"
    />
  );
}
