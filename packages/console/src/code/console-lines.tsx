import styles from './code.module.css';

interface ConsoleLinesProps {
  lines: ReadonlyArray<{ level: 'debug' | 'info' | 'warn' | 'error'; text: string }>;
}

/** What code has printed, in the colours of its levels. */
export function ConsoleLines({ lines }: ConsoleLinesProps) {
  return (
    <div>
      <h3>Console</h3>
      <div className={styles.console}>
        {lines.map(({ level, text }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their position
          <span key={at} className={styles[level]}>
            {text}
          </span>
        ))}
      </div>
    </div>
  );
}
