import { useEffect, useState, useSyncExternalStore } from 'react';
import { notices, type ShownNotice } from '../api/notices.ts';
import { Icon } from './icon.tsx';
import styles from './notices.module.css';

/** Dialogs leave it readable, because it is a live region. */
export function Notices() {
  const shown = useSyncExternalStore(notices.subscribe, notices.all);
  return (
    <div className={styles.viewport} role="status" aria-live="polite">
      {shown.map((notice) => (
        <OneNotice key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

const shownMs = 6_000;

function OneNotice({ notice: { id, title, description, details } }: { notice: ShownNotice }) {
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const stays = isPointed || isFocused || isOpen;
  useEffect(() => {
    if (stays) return;
    const timer = setTimeout(() => notices.remove(id), shownMs);
    return () => clearTimeout(timer);
  }, [stays, id]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: nobody fills it in
    <div
      role="group"
      className={styles.notice}
      onMouseEnter={() => setPointed(true)}
      onMouseLeave={() => setPointed(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <span className={styles.mark}>
        <Icon name="check" size={16} />
      </span>
      <div>
        <p className={styles.title}>{title}</p>
        {description && <p className={styles.description}>{description}</p>}
        {details && (
          <details className={styles.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>Details</summary>
            {details}
          </details>
        )}
      </div>
      <button type="button" className={styles.close} aria-label="Close this notice" onClick={() => notices.remove(id)}>
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}
