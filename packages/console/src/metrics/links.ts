import type { LinkProps } from '@tanstack/react-router';
import { isInFeed, type Step } from './step-text.ts';
import type { MetricsFilter } from './use-metrics.ts';

interface StepLink {
  link: LinkProps;
  name: string;
  /** Why it does not lead to the invocations. */
  why?: string;
}

/** Where the invocations of a step are to be seen: in the feed as long as it has them, then only those of the audit log. */
export function linkOfStep(step: Step, filter: MetricsFilter, nowMs = Date.now()): StepLink {
  if (isInFeed(step, nowMs)) return { link: { to: '/invocations', search: { ...filter } }, name: 'Invocations' };
  const { application_id: actor, ...thing } = filter;
  const entity = thing.proxy_id ?? thing.reactor_id;
  return {
    link: {
      to: '/audit',
      search: {
        start_date: new Date(step.fromMs).toISOString(),
        end_date: new Date(step.toMs).toISOString(),
        ...(actor && { actor_id: actor }),
        ...(entity && { entity_id: entity }),
      },
    },
    name: 'Audit log',
    why: 'Invocations are listed for only 15 minutes. The audit log shows the tokens that an invocation disclosed.',
  };
}
