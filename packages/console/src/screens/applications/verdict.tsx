import type { AccessExplanation, Application } from '@sluice/sdk';
import styles from './applications.module.css';

const seen = { reveal: 'the value', mask: 'the mask', redact: 'no value' } as const;

/** Whether something is allowed, and what decides. */
export function Verdict({ application, answer }: { application: Application; answer: AccessExplanation }) {
  const { allowed, transform, decided_by: by = {}, reason } = answer;
  return (
    <div className={`${styles.verdict} ${allowed ? styles.allowed : styles.refused}`} role="status">
      <strong>
        {allowed ? 'Allowed' : 'Refused'}
        {allowed && transform ? `: callers see ${seen[transform]}` : ''}
      </strong>
      <span>{reason}</span>
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
          Decided by <code>{by.token}</code> of the token
        </span>
      )}
    </div>
  );
}

const ofProxy = { allowed_methods: 'the allowed methods', allowed_paths: 'the allowed paths' } as const;
