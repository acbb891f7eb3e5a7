import { Tooltip } from '@base-ui/react/tooltip';
import { usePreferences } from '../api/preferences.ts';
import { clockText, exactText, relativeText } from './moment.ts';
import { useNow } from './now.ts';
import styles from './time.module.css';

/** A moment of today, to the millisecond. */
export function Clock({ at }: { at: string }) {
  const { zone } = usePreferences();
  return (
    <time dateTime={at} title={exactText(at, zone)}>
      {clockText(at, zone)}
    </time>
  );
}

/** How long ago a moment was, or is to come. `at` is ISO 8601. */
export function Time({ at }: { at: string | undefined }) {
  return at === undefined ? null : <Relative at={at} />;
}

/** One tooltip for all moments on the screen. */
const exact = Tooltip.createHandle<string>();

function Relative({ at }: { at: string }) {
  const { zone } = usePreferences();
  const text = useNow((now) => relativeText(at, now, zone));
  return (
    <Tooltip.Trigger
      handle={exact}
      payload={at}
      delay={250}
      className={styles.time}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard reaches the exact moment, too
      render={<time dateTime={at} tabIndex={0} aria-description={exactText(at, zone)} />}
    >
      {text}
    </Tooltip.Trigger>
  );
}

/** The exact moment, at the one that is hovered or has the focus. It is once in the page. */
export function ExactTime() {
  const { zone } = usePreferences();
  return (
    <Tooltip.Root handle={exact}>
      {({ payload }) => (
        <Tooltip.Portal>
          <Tooltip.Positioner sideOffset={6} collisionPadding={8} className={styles.positioner}>
            <Tooltip.Popup className={styles.exact}>{payload !== undefined && exactText(payload, zone)}</Tooltip.Popup>
          </Tooltip.Positioner>
        </Tooltip.Portal>
      )}
    </Tooltip.Root>
  );
}
