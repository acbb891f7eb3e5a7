import type { ReactorTrial, TransformTrial } from '@sluice/sdk';
import { Code } from '../ui/copy.tsx';
import { Badge, Soft } from '../ui/layout.tsx';
import styles from './code.module.css';
import { ConsoleLines } from './console-lines.tsx';

/** Of a transform or a Reactor; only transforms have a stand-in for `req.svc`. */
export type TrialOutcome = ReactorTrial & Pick<TransformTrial, 'client'>;

/** The result of a run: its value or error, its console output, and its use of time. */
export function TrialResult({ result }: { result: TrialOutcome }) {
  const { error, console: lines, duration_ms: duration, cpu_ms: cpu, client } = result;
  return (
    <div className={styles.result} role="status">
      <div className={styles.timings}>
        {error ? <Badge tone="bad">failed with {error.status}</Badge> : <Badge tone="good">done</Badge>}
        <span>{duration.toFixed(1)} ms</span>
        {cpu !== undefined && <Soft>{cpu.toFixed(1)} ms of CPU</Soft>}
        {client && <Soft>{client.calls} calls of req.svc were answered by a stub</Soft>}
      </div>
      {error && (
        <div className={styles.thrown}>
          <strong>{error.title}</strong>
          {error.detail && <p>{error.detail}</p>}
          {error.stopped_by && <p>Stopped by the limit {error.stopped_by}</p>}
        </div>
      )}
      {result.result && <Code text={JSON.stringify(result.result, null, 2)} what="the result" />}
      {lines.length > 0 && <ConsoleLines lines={lines} />}
    </div>
  );
}
