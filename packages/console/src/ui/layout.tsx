import type { ReactNode } from 'react';
import { useId } from 'react';
import styles from './layout.module.css';
import { useTitle } from './title.ts';

interface PageProps {
  title: string;
  /** Which one it is, for the title of the tab, if `title` does not say that. */
  part?: string;
  /** One sentence: what this is for. */
  intro?: ReactNode;
  /** The way up, as a link. */
  back?: ReactNode;
  acts?: ReactNode;
  children: ReactNode;
}

export function Page({ title, part, intro, back, acts, children }: PageProps) {
  useTitle('page', title);
  useTitle('part', part);
  return (
    <>
      <header className={styles.head}>
        <div className={styles.titles}>
          {back && <span className={styles.back}>{back}</span>}
          <h1>{title}</h1>
          {intro && <p className={styles.intro}>{intro}</p>}
        </div>
        {acts && <div className={styles.acts}>{acts}</div>}
      </header>
      {children}
    </>
  );
}

interface CardProps {
  /** So that an address can lead to it. */
  id?: string;
  title?: string;
  intro?: ReactNode;
  acts?: ReactNode;
  /** Without room at its edges, for a table. */
  flush?: boolean;
  children: ReactNode;
}

export function Card({ id, title, intro, acts, flush = false, children }: CardProps) {
  const titleId = useId();
  return (
    <section id={id} className={styles.card} aria-labelledby={title ? titleId : undefined}>
      {title && (
        <header className={styles.cardHead}>
          <div>
            <h2 id={titleId}>{title}</h2>
            {intro && <p>{intro}</p>}
          </div>
          {acts && <div className={styles.acts}>{acts}</div>}
        </header>
      )}
      {flush ? children : <div className={styles.padded}>{children}</div>}
    </section>
  );
}

/** Two cards side by side where there is room: what is written, and what comes of it. */
export function SideBySide({ children }: { children: ReactNode }) {
  return (
    <div className={styles.around}>
      <div className={styles.sides}>{children}</div>
    </div>
  );
}

/** Names and values. What is undefined is left out. */
export function Facts({ facts }: { facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className={styles.facts}>
      {Object.entries(facts)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export type Tone = 'good' | 'info' | 'warn' | 'bad';

/** A state or a kind, in a word. Its colour is decoration. */
export function Badge({ tone, children }: { tone?: Tone | undefined; children: ReactNode }) {
  return <span className={[styles.badge, tone && styles[tone]].filter(Boolean).join(' ')}>{children}</span>;
}

export function Soft({ children }: { children: ReactNode }) {
  return <span className={styles.soft}>{children}</span>;
}
