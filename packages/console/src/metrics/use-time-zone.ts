import { usePreferences } from '../api/preferences.ts';

/** The zone that the person has chosen, for `Intl`: undefined is their own. */
export function useTimeZone(): 'UTC' | undefined {
  return usePreferences().zone === 'utc' ? 'UTC' : undefined;
}
