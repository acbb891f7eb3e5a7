import { exportCounter, type Runtime } from '@sluice/service-runtime';

export interface SessionLimits {
  APPLICATION_MAX_WAITING_SESSIONS: number;
  TENANT_MAX_SESSIONS: number;
}

export interface SessionFigures {
  /** Waiting sessions that were ended in favour of newer ones. */
  ended: number;
  refused: number;
}

export function measureSessionLimits(registry: Runtime['metrics'], figures: SessionFigures): void {
  exportCounter(registry, {
    name: 'sluice_session_limit_total',
    help: 'Effects of the limits of sessions. outcome="ended" counts sessions that waited for authorization and were replaced by newer ones. outcome="refused" counts authorizations that got 429',
    by: 'outcome',
    read: () => ({ ...figures }),
  });
}
