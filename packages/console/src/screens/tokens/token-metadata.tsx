import type { DescribedToken } from '@sluice/sdk';
import { Soft } from '../../ui/layout.tsx';
import styles from './tokens.module.css';

export function Metadata({ metadata = {} }: { metadata: DescribedToken['metadata'] | undefined }) {
  const pairs = Object.entries(metadata);
  if (pairs.length === 0) return <Soft>none</Soft>;
  return (
    <ul className={styles.pairs}>
      {pairs.map(([name, value]) => (
        <li key={name}>
          <Soft>{name}</Soft> {value}
        </li>
      ))}
    </ul>
  );
}
