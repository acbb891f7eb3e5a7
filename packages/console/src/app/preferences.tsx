import { type Preferences, setPreference, usePreferences } from '../api/preferences.ts';
import styles from './preferences.module.css';

/** How the console looks in this browser. */
export function PreferenceChoices() {
  const { theme, zone } = usePreferences();
  return (
    <div className={styles.choices}>
      <Segments label="Theme" name="theme" value={theme} options={{ system: 'System', light: 'Light', dark: 'Dark' }} />
      <Segments label="Times" name="zone" value={zone} options={{ local: 'Local', utc: 'UTC' }} />
    </div>
  );
}

interface SegmentsProps<Name extends keyof Preferences> {
  label: string;
  name: Name;
  value: Preferences[Name];
  options: Readonly<Record<Preferences[Name], string>>;
}

function Segments<Name extends keyof Preferences>({ label, name, value, options }: SegmentsProps<Name>) {
  const named = Object.entries(options) as [Preferences[Name], string][];
  return (
    <fieldset className={styles.choice}>
      <legend>{label}</legend>
      <div className={styles.segments}>
        {named.map(([option, text]) => (
          <label key={option}>
            <input
              type="radio"
              name={name}
              checked={option === value}
              onChange={() => setPreference(name, option)}
              className="unseen"
            />
            {text}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
