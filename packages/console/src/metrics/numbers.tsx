import { Link } from '@tanstack/react-router';
import { useTimeZone } from '../ui/time.tsx';
import { linkOfStep } from './links.ts';
import styles from './metrics.module.css';
import { stepOf, stepText } from './step-text.ts';
import type { MetricsFilter, RangeMetrics } from './use-metrics.ts';

interface NumbersProps {
  metrics: RangeMetrics;
  filter: MetricsFilter;
  /** The chosen one. Without one the numbers are those of the whole range. */
  step: number | undefined;
  /** Of the whole range, in the place of the chosen step. */
  about: string;
  /** `tone` is the colour that the chart has for it. */
  numbers: readonly { name: string; value: string; tone?: 'accent' | 'warn' | 'bad' }[];
}

/** What a chart says in numbers, and which of its steps they are of. */
export function Numbers({ metrics, filter, step, about, numbers }: NumbersProps) {
  return (
    <>
      <p className={styles.when}>{step === undefined ? about : <When {...{ metrics, filter, step }} />}</p>
      <dl className={styles.numbers}>
        {numbers.map(({ name, value, tone }) => (
          <div key={name}>
            <dt>
              {tone && <i className={styles[tone]} />}
              {name}
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function When({ metrics, filter, step }: Omit<NumbersProps, 'numbers' | 'about' | 'step'> & { step: number }) {
  const { from, to, requests } = metrics;
  const timeZone = useTimeZone();
  const chosen = stepOf(metrics, step);
  const { link, name, why } = linkOfStep(chosen, filter);
  return (
    <>
      <strong>{stepText(chosen, Date.parse(to) - Date.parse(from), timeZone)}</strong>
      {step === requests.length - 1 && ' so far'} ·{' '}
      <Link {...link} title={why}>
        {name}
      </Link>
    </>
  );
}
