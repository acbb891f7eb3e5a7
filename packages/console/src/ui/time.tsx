import { createContext, useContext, useEffect, useState } from 'react';
import { usePreferences } from '../api/preferences.ts';
import { clockText, exactText, relativeText } from './moment.ts';
import { useNow } from './now.ts';
import styles from './time.module.css';

/** The zone that the person has chosen, for `Intl`: undefined is their own. */
export function useTimeZone(): 'UTC' | undefined {
  return usePreferences().zone === 'utc' ? 'UTC' : undefined;
}

/** A moment of today, to the millisecond. */
export function Clock({ at }: { at: string }) {
  const { zone } = usePreferences();
  return <time dateTime={at}>{clockText(at, zone)}</time>;
}

/** How long ago a moment was, or is to come. `at` is ISO 8601. */
export function Time({ at }: { at: string | undefined }) {
  return at === undefined ? null : <Relative at={at} />;
}

/** Set in tables, where a tab stop for each moment would keep the keyboard from what can be pressed. */
export const TimesWithoutTabStop = createContext(false);

function Relative({ at }: { at: string }) {
  const { zone } = usePreferences();
  const text = useNow((now) => relativeText(at, now, zone));
  const tabIndex = useContext(TimesWithoutTabStop) ? undefined : 0;
  return (
    <time dateTime={at} className={styles.time} tabIndex={tabIndex} aria-description={exactText(at, zone)}>
      {text}
    </time>
  );
}

/** The exact moment, and how long ago it was. */
export function Moment({ at }: { at: string }) {
  const { zone } = usePreferences();
  const text = useNow((now) => relativeText(at, now, zone));
  return (
    <>
      <time dateTime={at}>{exactText(at, zone)}</time> <span className={styles.time}>({text})</span>
    </>
  );
}

interface Shown {
  at: string;
  left: number;
  top: number;
}

/** Of the place in whose middle the exact moment stands. */
const widthPx = 272;

/** The exact moment, below the one that the pointer or the focus is at. One for all moments on the screen, in the frame. */
export function ExactTime() {
  const { zone } = usePreferences();
  const [shown, setShown] = useState<Shown>();
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    const hide = () => setShown(undefined);
    const show = ({ target, type }: Event) => {
      if (!(target instanceof Element) || target.closest(`.${styles.exact}`)) return;
      // What opens by a click may move the focus to a moment that nobody has asked for
      if (type === 'focusin' && !target.matches(':focus-visible')) return;
      const time = target.closest('time');
      if (!time) return hide();
      const { left, width, bottom } = time.getBoundingClientRect();
      const middle = left + (width - widthPx) / 2;
      setShown({ at: time.dateTime, left: Math.max(0, Math.min(middle, innerWidth - widthPx)), top: bottom });
    };
    document.addEventListener('mouseover', show, { signal });
    document.addEventListener('focusin', show, { signal });
    document.addEventListener('focusout', hide, { signal });
    document.addEventListener('scroll', hide, { signal, capture: true });
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), { signal });
    return () => listening.abort();
  }, []);
  if (!shown) return null;
  const { at, ...position } = shown;
  return (
    <div className={styles.exact} style={{ width: widthPx, ...position }} aria-hidden="true">
      <span>{exactText(at, zone)}</span>
    </div>
  );
}
