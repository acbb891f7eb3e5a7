import { Link, type LinkProps } from '@tanstack/react-router';
import styles from './tabs.module.css';

interface TabLink {
  name: string;
  link: LinkProps;
}

/** Parts of a screen that have addresses of their own, so that each can be shared. */
export function TabLinks({ label, tabs }: { label: string; tabs: readonly TabLink[] }) {
  return (
    <nav className={styles.list} aria-label={label}>
      {tabs.map(({ name, link }) => (
        <Link key={name} {...link} className={styles.tab} activeOptions={{ exact: true, includeSearch: false }}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
