import type { ReactNode } from 'react';
import { Icon } from '../../ui/icon.tsx';
import styles from './audit.module.css';

export function VerdictBox({
  isGood = false,
  title,
  children,
}: {
  isGood?: boolean;
  title: string;
  children: ReactNode;
}) {
  return (
    <div className={`${styles.verdict} ${isGood ? styles.good : styles.bad}`} role="status">
      <strong>
        <Icon name={isGood ? 'audit' : 'alert'} size={18} />
        {title}
      </strong>
      {children}
    </div>
  );
}
