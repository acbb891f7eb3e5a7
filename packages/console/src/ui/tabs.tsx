import { Link, type LinkProps, useRouter, useRouterState } from '@tanstack/react-router';
import styles from './tabs.module.css';
import { useTitle } from './title.ts';

interface TabLink {
  name: string;
  link: LinkProps;
}

/** Parts of a screen that have addresses of their own, so that each can be shared. */
export function TabLinks({ label, tabs }: { label: string; tabs: readonly TabLink[] }) {
  const router = useRouter();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useTitle('part', tabs.find(({ link }) => router.buildLocation(link).pathname === path)?.name);
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
