import { singleAddressOf } from '@sluice/hosts';
import { ServiceError } from '@sluice/problems';
import { measureLocalDecisions, openSharedLimits } from '@sluice/rate-limits';
import { exportCounter, type Runtime } from '@sluice/service-runtime';
import type { Config } from '../../config.ts';

/** Limits failures by the address from which they came. */
export interface FailedSignIns {
  /** Call it before any look-up. @throws {ServiceError} `too_many_requests` for an address with too many failures. */
  refuseMany(address: string): Promise<void>;
  /** Counts the failure. The error gives no reason, because a difference would reveal which secrets exist. */
  refusal(address: string): Promise<ServiceError>;
}

const windowSeconds = 60;

export function openFailedSignIns(config: Config, { log, stack, metrics }: Runtime): FailedSignIns {
  const limits = openSharedLimits(config, { log, stack });
  const counts = { failed: 0, refused: 0 };
  const limit = failureLimit(config, limits);
  exportCounter(metrics, {
    name: 'sluice_failed_sign_ins_total',
    help: 'Failed sign-ins to the console. outcome="refused" counts sign-ins that were not checked, because their address had failed too often',
    by: 'outcome',
    read: () => ({ ...counts }),
  });
  measureLocalDecisions(metrics, () => limits.decidedAlone);

  async function waitAfter(address: string, points: number): Promise<number> {
    return limit ? await limit.count(singleAddressOf(address), points) : 0;
  }

  return {
    async refuseMany(address) {
      const waitMs = await waitAfter(address, 0);
      if (waitMs === 0) return;
      counts.refused++;
      throw tooMany(waitMs);
    },
    async refusal(address) {
      counts.failed++;
      const waitMs = await waitAfter(address, 1);
      return waitMs === 0 ? notValid() : tooMany(waitMs);
    },
  };
}

function notValid(): ServiceError {
  return new ServiceError(
    'unauthenticated',
    'This link or key is not valid. It may have been used already, or it may have expired',
  );
}

function tooMany(waitMs: number): ServiceError {
  return new ServiceError('too_many_requests', 'Too many failed sign-ins; try again later', {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
    limit: 'failed_sign_ins',
  });
}

/** No limit without TRUSTED_PROXIES, because behind an ingress all clients would share its address. */
function failureLimit(
  { TRUSTED_PROXIES, FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE: points }: Config,
  limits: ReturnType<typeof openSharedLimits>,
) {
  if (TRUSTED_PROXIES === undefined || points === 0) return undefined;
  return limits.limit({ kind: 'failed_sign_ins', points, windowSeconds });
}
