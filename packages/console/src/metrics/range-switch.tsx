import { Link } from '@tanstack/react-router';
import styles from './metrics.module.css';
import { rangeSearch, ranges } from './range.ts';

/** The range is in the address, so that it can be shared. */
export function RangeSwitch() {
  return (
    <nav className={styles.ranges} aria-label="Range">
      {Object.entries(ranges).map(([each, { name }]) => (
        <Link
          key={each}
          to="."
          search={({ range: _, ...former }) => ({ ...former, ...rangeSearch({ range: each }) })}
          resetScroll={false}
          activeOptions={{ exact: true }}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}
