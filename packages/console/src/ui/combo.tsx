import { lazy, Suspense } from 'react';
import styles from './combo.module.css';
import type { ComboProps } from './combobox.tsx';

export type { ComboProps, Option } from './combobox.tsx';

/** Loaded apart, because it is as large as a screen, and screens are read before anything is chosen. */
const Combobox = lazy(() => import('./combobox.tsx').then(({ Combobox }) => ({ default: Combobox })));

/** One of many options, chosen by typing a part of its name. */
export function Combo(props: ComboProps) {
  return (
    <Suspense fallback={<Loading {...props} />}>
      <Combobox {...props} />
    </Suspense>
  );
}

/** In the same place and size. */
function Loading({ label, value, placeholder, hint, isFilter = false }: ComboProps) {
  return (
    <div className={isFilter ? styles.filter : styles.field}>
      <span className={isFilter ? undefined : styles.label}>{label}</span>
      <div className={styles.group}>
        <input
          className={styles.input}
          aria-label={label}
          value={value?.name ?? ''}
          placeholder={placeholder}
          disabled
        />
      </div>
      {hint && <span className={styles.hint}>{hint}</span>}
    </div>
  );
}
