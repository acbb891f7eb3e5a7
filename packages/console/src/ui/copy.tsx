import { useState } from 'react';
import { IconButton } from './button.tsx';
import styles from './copy.module.css';

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <IconButton
      small
      icon={copied ? 'check' : 'copy'}
      label={copied ? `Copied ${what}` : `Copy ${what}`}
      onClick={copy}
    />
  );
}

/** An id, whole, to be read and copied. */
export function Id({ id, what = 'the id' }: { id: string; what?: string }) {
  return (
    <span className={styles.id}>
      <code>{id}</code>
      <CopyButton text={id} what={what} />
    </span>
  );
}

/** Lines to be copied: a call, a program, an answer. */
export function Code({ text, what }: { text: string; what: string }) {
  return (
    <div className={styles.code}>
      {/* biome-ignore lint/a11y/useSemanticElements: the element of this role is for forms */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: so that it can be scrolled by the keyboard */}
      <div tabIndex={0} role="group" aria-label={what}>
        <pre>{text}</pre>
      </div>
      <CopyButton text={text} what={what} />
    </div>
  );
}
