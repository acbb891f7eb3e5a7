import { lazy, Suspense } from 'react';
import { Card } from '../ui/layout.tsx';
import { Loading } from '../ui/states.tsx';
import type { MetricsCardProps } from './metrics-card.tsx';

const Lazy = lazy(() => import('./metrics-card.tsx'));

/** Loaded after the page that it is on, which is shown first. */
export function MetricsCard(props: MetricsCardProps) {
  const fallback = (
    <Card title="Metrics">
      <Loading />
    </Card>
  );
  return (
    <Suspense fallback={fallback}>
      <Lazy {...props} />
    </Suspense>
  );
}
