import { exportCounter, type Runtime } from '@sluice/service-runtime';

export const sessionSettings = {
  APPLICATION_MAX_WAITING_SESSIONS: {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    default: 10_000,
    description:
      'Most sessions of one Application that wait to be authorized; beyond, the oldest of the network (IPv4 /24, IPv6 /48) ' +
      'that has most of them ends',
  },
  TENANT_MAX_SESSIONS: {
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    default: 100_000,
    description: 'Most authorized sessions of one Tenant; beyond, authorizing is 429',
  },
  TENANT_MAX_SESSION_CALLS: {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    default: 500,
    description:
      'Most calls of one Tenant that wait in one process to make a session, and as many to authorize one; networks (or ' +
      'Applications that authorize) take turns, and beyond, the last call of the one that has most of them is 429',
  },
} as const;

export interface SessionLimits {
  APPLICATION_MAX_WAITING_SESSIONS: number;
  TENANT_MAX_SESSIONS: number;
}

export interface SessionFigures {
  /** Waiting sessions that ended to make room for a newer one. */
  ended: number;
  refused: number;
}

export function measureSessionLimits(registry: Runtime['metrics'], figures: SessionFigures): void {
  exportCounter(registry, {
    name: 'sluice_session_limit_total',
    help: 'What the limits of sessions did: ended (one that waited, for a newer one), refused (an authorization, by 429)',
    by: 'outcome',
    read: () => ({ ...figures }),
  });
}
