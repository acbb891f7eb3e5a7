import { Dialog } from '@base-ui/react/dialog';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { useMe } from '../api/me.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/states.tsx';
import { ExactTime } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { AccountMenu } from './account-menu.tsx';
import styles from './frame.module.css';
import { LeaveGuard } from './leave-guard.tsx';
import { navigation } from './navigation.ts';
import { Offline } from './offline.tsx';
import { Search } from './search.tsx';
import { SignedOut } from './signed-out.tsx';

export function Frame() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [drawer, setDrawer] = useState(false);
  const isFirst = useRef(true);
  useTitle('tenant', useMe().tenant.name);
  // Focuses the new screen, so that screen readers announce it and the keyboard continues there.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is for each new path
  useEffect(() => {
    setDrawer(false);
    if (isFirst.current) isFirst.current = false;
    else main.current?.focus();
  }, [path]);
  return (
    <>
      <a className={styles.skip} href="#main">
        Skip to the content
      </a>
      <Layout
        top={
          <>
            <span className={styles.openMenu}>
              <IconButton icon="menu" label="Open the navigation" onClick={() => setDrawer(true)} />
            </span>
            <Search />
            <AccountMenu />
          </>
        }
      >
        <Offline />
        <main className={styles.main} id="main" ref={main} tabIndex={-1}>
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
      </Layout>
      <ExactTime />
      <LeaveGuard />
      <SignedOut />
      <Dialog.Root open={drawer} onOpenChange={setDrawer}>
        <Dialog.Portal>
          <Dialog.Backdrop className={styles.backdrop} />
          <Dialog.Popup className={styles.drawer} aria-label="Navigation">
            <Side />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
}

/** The frame while it is not known yet who is signed in. */
export function PendingFrame() {
  return (
    <Layout>
      <main className={styles.main}>
        <Loading />
      </main>
    </Layout>
  );
}

function Layout({ top, children }: { top?: ReactNode; children: ReactNode }) {
  return (
    <div className={styles.frame}>
      <Side />
      <div>
        <header className={styles.top}>{top}</header>
        {children}
      </div>
    </div>
  );
}

function Side() {
  return (
    <nav className={styles.side} aria-label="Console">
      <div>
        <Link to="/" className={styles.brand}>
          <img src="/docs/icon.svg" alt="" width="26" height="26" />
          Sluice
        </Link>
        <div className={styles.links}>
          {navigation.map(({ to, name, icon }) => (
            <Link key={to} to={to} className={styles.link} activeOptions={{ exact: to === '/', includeSearch: false }}>
              <Icon name={icon} />
              {name}
            </Link>
          ))}
          <a href="/docs" className={styles.link}>
            <Icon name="reference" />
            API reference
          </a>
        </div>
      </div>
    </nav>
  );
}
