import type { AccessExplanation, Application } from '@sluice/sdk';
import styles from './applications.module.css';
import { reasonInWords, tokenMembers } from './verdict-in-words.ts';

interface VerdictProps {
  application: Application;
  answer: AccessExplanation;
  /** Completes the sentence `Allowed: …` or `Refused: …`. */
  seen: string | undefined;
}

/** Whether something is allowed, what follows from it, and what decides. */
export function Verdict({ application, answer, seen }: VerdictProps) {
  const { allowed, decided_by: by = {}, reason } = answer;
  return (
    <div className={`${styles.verdict} ${allowed ? styles.allowed : styles.refused}`} role="status">
      <strong>
        {allowed ? 'Allowed' : 'Refused'}
        {seen && `: ${seen}`}
      </strong>
      <span>{reasonInWords(reason)}</span>
      {by.rule !== undefined && (
        <span>
          Decided by rule {by.rule + 1}, on <code>{application.rules[by.rule]?.container}</code>
        </span>
      )}
      {by.permission !== undefined && (
        <span>
          Decided by the permission <code>{by.permission}</code>
        </span>
      )}
      {by.application !== undefined && <span>Decided by the list of Proxies of the Application</span>}
      {by.proxy !== undefined && <span>Decided by {ofProxy[by.proxy]} of the Proxy</span>}
      {by.token !== undefined && (
        <span>
          Decided by the restriction “{tokenMembers[by.token]}”, which is under “Bound to” on the page of the token
        </span>
      )}
    </div>
  );
}

const ofProxy = { allowed_methods: 'the allowed methods', allowed_paths: 'the allowed paths' } as const;
