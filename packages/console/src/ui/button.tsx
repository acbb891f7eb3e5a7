import { Popover } from '@base-ui/react/popover';
import type { PermissionName } from '@sluice/sdk';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { useMissingRight } from '../api/me.ts';
import styles from './button.module.css';
import { Icon, type IconName } from './icon.tsx';

interface Look {
  kind?: 'primary' | 'danger' | 'plain' | undefined;
  small?: boolean | undefined;
}

export interface ButtonProps extends Look, Omit<ComponentProps<'button'>, 'children'> {
  children: ReactNode;
  /** For people without it, the button explains who may use it. */
  needs?: PermissionName | undefined;
  /** Why it cannot be pressed, whatever the permission. */
  refusal?: string | undefined;
  icon?: IconName;
  /** While it works it cannot be pressed again. */
  busy?: boolean;
}

export function Button({ needs, refusal, icon, busy = false, kind, small, children, ...rest }: ButtonProps) {
  const missing = useMissingRight(needs) ?? refusal;
  if (missing !== undefined) {
    return (
      <Explained why={missing} kind={kind} small={small}>
        {children}
      </Explained>
    );
  }
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass({ kind, small })}
      disabled={rest.disabled || busy}
      aria-busy={busy}
    >
      {icon && <Icon name={icon} size={16} />}
      {children}
    </button>
  );
}

interface LinkButtonProps extends Look {
  to: NonNullable<LinkProps['to']>;
  search?: LinkProps['search'];
  needs?: PermissionName;
  icon?: IconName;
  children: ReactNode;
}

/** A link that looks like a button, because it leads to something that is done. */
export function LinkButton({ to, search, needs, icon, kind, small, children }: LinkButtonProps) {
  const missing = useMissingRight(needs);
  if (missing !== undefined) {
    return (
      <Explained why={missing} kind={kind} small={small}>
        {children}
      </Explained>
    );
  }
  return (
    <Link to={to} {...(search && { search })} className={buttonClass({ kind, small })}>
      {icon && <Icon name={icon} size={16} />}
      {children}
    </Link>
  );
}

interface DownloadButtonProps extends Look {
  /** Of the API, which answers a download to a person's own navigation. */
  href: string;
  /** Of the file. */
  name: string;
  needs?: PermissionName;
  children: ReactNode;
}

/** The browser saves the response, which can be of any size. */
export function DownloadButton({ href, name, needs, kind, small, children }: DownloadButtonProps) {
  const missing = useMissingRight(needs);
  if (missing !== undefined) {
    return (
      <Explained why={missing} kind={kind} small={small}>
        {children}
      </Explained>
    );
  }
  return (
    <a href={href} download={name} className={buttonClass({ kind, small })}>
      <Icon name="download" size={16} />
      {children}
    </a>
  );
}

/** A button with only an icon, which needs a label for screen readers. */
export function IconButton({
  icon,
  label,
  small,
  ...rest
}: { icon: IconName; label: string; small?: boolean } & Omit<ComponentProps<'button'>, 'children'>) {
  return (
    <button
      type="button"
      {...rest}
      className={`${buttonClass({ kind: 'plain', small })} ${styles.icon}`}
      aria-label={label}
      title={label}
    >
      <Icon name={icon} size={small ? 15 : 18} />
    </button>
  );
}

/** A button that does nothing but say why. */
function Explained({ why, kind, small, children }: Look & { why: string; children: ReactNode }) {
  const look = { kind: kind === 'plain' ? kind : undefined, small };
  return (
    <Popover.Root>
      <Popover.Trigger openOnHover delay={100} className={`${buttonClass(look)} ${styles.missing}`}>
        <Icon name="lock" size={14} />
        {children}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} collisionPadding={8} positionMethod="fixed" className={styles.above}>
          <Popover.Popup className={styles.why} aria-label="Why not">
            <Popover.Description>{why}</Popover.Description>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** For links that look like a button. */
export function buttonClass({ kind, small }: Look = {}): string {
  return [styles.button, kind && styles[kind], small && styles.small].filter(Boolean).join(' ');
}
