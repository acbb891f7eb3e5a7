import { useSyncExternalStore } from 'react';

/** Everything that the console keeps in the browser. What is absent, or anything else, means the first value. */
const allowed = {
  theme: ['system', 'light', 'dark'],
  zone: ['local', 'utc'],
} as const;

type Name = keyof typeof allowed;

export interface Preferences {
  /** `system` follows the operating system. */
  theme: (typeof allowed.theme)[number];
  /** The zone in which the console shows and reads moments. */
  zone: (typeof allowed.zone)[number];
}

let preferences = read();
const listeners = new Set<() => void>();

/** @returns the first value also if the browser forbids storage. */
function readOne<Value extends string>(name: Name, values: readonly [Value, ...Value[]]): Value {
  try {
    const kept = localStorage.getItem(name);
    return values.find((value) => value === kept) ?? values[0];
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return values[0];
  }
}

function read(): Preferences {
  return { theme: readOne('theme', allowed.theme), zone: readOne('zone', allowed.zone) };
}

function keep(name: Name, value: string): void {
  try {
    if (value === allowed[name][0]) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // forbidden or full: the choice lasts until the page is left
  }
}

function change(next: Preferences): void {
  preferences = next;
  const { dataset } = document.documentElement;
  if (next.theme === 'system') delete dataset.theme;
  else dataset.theme = next.theme;
  for (const listener of listeners) listener();
}

export function setPreference<Of extends Name>(name: Of, value: Preferences[Of]): void {
  keep(name, value);
  change({ ...preferences, [name]: value });
}

/** Called once. Another tab of the console has changed one. */
export function followPreferences(): void {
  addEventListener('storage', () => change(read()));
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => preferences,
  );
}
