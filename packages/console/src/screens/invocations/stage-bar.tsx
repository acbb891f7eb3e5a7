import type { Invocation } from '@sluice/sdk';
import styles from './invocations.module.css';

const stages = ['authenticate', 'detokenize', 'transform', 'code', 'destination'] as const;
const stagesOfProxies = ['authenticate', 'detokenize', 'transform', 'destination'] as const;
const stagesOfReactors = ['authenticate', 'detokenize', 'code'] as const;

export function stagesOf(isRun: boolean) {
  return isRun ? stagesOfReactors : stagesOfProxies;
}

const format = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });

export function milliseconds(ms: number): string {
  return `${format.format(ms)} ms`;
}

/** How its time was divided among the stages, and the whole. */
export function StageBar({ stagesMs }: { stagesMs: Invocation['stages_ms'] }) {
  const { total = 0 } = stagesMs;
  const parts = stages.flatMap((stage) => {
    const ms = stagesMs[stage];
    return ms === undefined ? [] : [{ stage, ms }];
  });
  const label = parts.map(({ stage, ms }) => `${stage} ${milliseconds(ms)}`).join(', ');
  return (
    <span className={styles.stages} title={label}>
      <span className={styles.bar} role="img" aria-label={label || 'no stage'}>
        {parts.map(({ stage, ms }) => (
          <span
            key={stage}
            className={styles[stage]}
            style={{ width: `${total > 0 ? Math.min(100, (ms / total) * 100) : 0}%` }}
          />
        ))}
      </span>
      <span className={styles.total}>{milliseconds(total)}</span>
    </span>
  );
}

export function StageLegend() {
  return (
    <ul className={styles.legend} aria-label="Stages">
      {stagesOfProxies.map((stage) => (
        <li key={stage}>
          <span className={`${styles.dot} ${styles[stage]}`} aria-hidden="true" />
          {stage === 'transform' ? 'transform, code' : stage}
        </li>
      ))}
    </ul>
  );
}
