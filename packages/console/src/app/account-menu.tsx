import { Popover } from '@base-ui/react/popover';
import { useMutation } from '@tanstack/react-query';
import { sluice } from '../api/client.ts';
import { nameOf, useMe } from '../api/me.ts';
import { roleNames } from '../api/role-names.ts';
import { Icon } from '../ui/icon.tsx';
import { Fault } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import styles from './account-menu.module.css';
import { PreferenceChoices } from './preferences.tsx';

/** Who is signed in, to which Tenant, and the ways out. */
export function AccountMenu() {
  const me = useMe();
  const name = nameOf(me);
  const signOut = useMutation({
    mutationFn: (all: boolean) => sluice.console.signOut({ all }),
    onSuccess: () => location.assign('/sign-in'),
  });
  const enter = useMutation({
    mutationFn: (tenantId: string) => sluice.console.signIn.tenant({ tenant_id: tenantId }),
    // Reloads the page, because all data in memory belongs to the former Tenant.
    onSuccess: () => location.assign('/'),
  });
  const others = (me.tenants ?? []).filter(({ id }) => id !== me.tenant.id);
  return (
    <Popover.Root>
      <Popover.Trigger className={styles.trigger}>
        <span className={styles.mark} aria-hidden="true">
          {name.slice(0, 1).toUpperCase()}
        </span>
        <span className={styles.who}>
          <span className={styles.tenant}>{me.tenant.name}</span>
          <span className={styles.person}>
            {name}
            <span className="unseen">: account</span>
          </span>
        </span>
        <Icon name="down" size={16} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner align="end" sideOffset={6} collisionPadding={12} className={styles.positioner}>
          <Popover.Popup className={styles.menu} aria-label="Account">
            <div className={styles.about}>
              <p>{name}</p>
              <p>
                {[me.user?.email !== name && me.user?.email, me.role ? roleNames[me.role] : 'Signed in by a key']
                  .filter(Boolean)
                  .join(' · ')}
              </p>
              <p>Tenant {me.tenant.name}</p>
              <p>
                Your sign-in ends <Time at={me.expires_at} />
              </p>
            </div>
            {others.length > 0 && (
              <>
                <div className={styles.line} />
                <p className={styles.label}>Change to another Tenant</p>
                {others.map(({ id, name: tenant, role }) => (
                  <button key={id} type="button" className={styles.item} onClick={() => enter.mutate(id)}>
                    {tenant}
                    <small>
                      {roleNames[role]} · {id.slice(0, 8)}
                    </small>
                  </button>
                ))}
              </>
            )}
            <div className={styles.line} />
            <PreferenceChoices />
            <div className={styles.line} />
            <button type="button" className={styles.item} onClick={() => signOut.mutate(false)}>
              <Icon name="out" size={16} />
              Sign out
            </button>
            <button type="button" className={styles.item} onClick={() => signOut.mutate(true)}>
              <Icon name="everywhere" size={16} />
              Sign out everywhere
            </button>
            <Fault error={signOut.error ?? enter.error} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
