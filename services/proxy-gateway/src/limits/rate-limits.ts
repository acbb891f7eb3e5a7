import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import { openSharedLimits, type sharedLimitSettings } from '@sluice/rate-limits';
import type { Logger } from '@sluice/service-runtime';
import type { Config } from '../config.ts';

type LimitConfig = Pick<
  Config,
  | keyof typeof sharedLimitSettings
  | 'RATE_LIMIT_APPLICATION_PER_SECOND'
  | 'RATE_LIMIT_PROXY_PER_SECOND'
  | 'RATE_LIMIT_WINDOW_SECONDS'
>;

export interface RateLimits {
  /** Count it first, so that a refused Application uses up nothing of the Proxy's limit. @throws as `countProxy`. */
  countCaller(caller: Pick<Caller, 'id' | 'applicationId'>): Promise<void> | undefined;
  /** @throws {ServiceError} `too_many_requests` with the time to wait. */
  countProxy(proxyId: string): Promise<void> | undefined;
  state(): RateLimitState;
}

interface RateLimitState {
  applicationRefusals: number;
  proxyRefusals: number;
  decidedAlone: number;
}

/** Undefined where no limit is set; then nothing is counted, and there is no connection to Redis. */
export function openRateLimits(
  config: LimitConfig & { REDIS_URL: string },
  { log, stack }: { log: Logger; stack: AsyncDisposableStack },
): RateLimits | undefined {
  const { RATE_LIMIT_APPLICATION_PER_SECOND: perApplication, RATE_LIMIT_PROXY_PER_SECOND: perProxy } = config;
  if (perApplication === 0 && perProxy === 0) return undefined;
  const shared = openSharedLimits(config, { log, stack });
  const windowSeconds = config.RATE_LIMIT_WINDOW_SECONDS;
  const limitOf = (kind: string, perSecond: number) =>
    perSecond === 0 ? undefined : shared.limit({ kind, points: perSecond * windowSeconds, windowSeconds });
  const application = limitOf('application', perApplication);
  const proxy = limitOf('proxy', perProxy);
  let applicationRefusals = 0;
  let proxyRefusals = 0;

  return {
    countCaller: ({ id, applicationId = id }) =>
      application?.count(applicationId).then((waitMs) => {
        if (waitMs === 0) return;
        applicationRefusals++;
        throw tooMany('Application', perApplication * windowSeconds, { windowSeconds, waitMs });
      }),
    countProxy: (proxyId) =>
      proxy?.count(proxyId).then((waitMs) => {
        if (waitMs === 0) return;
        proxyRefusals++;
        throw tooMany('Proxy', perProxy * windowSeconds, { windowSeconds, waitMs });
      }),
    state: () => ({ applicationRefusals, proxyRefusals, decidedAlone: shared.decidedAlone }),
  };
}

function tooMany(
  whose: 'Application' | 'Proxy',
  most: number,
  { windowSeconds, waitMs }: { windowSeconds: number; waitMs: number },
): ServiceError {
  const window = windowSeconds === 1 ? 'a second' : `in ${windowSeconds} seconds`;
  return new ServiceError(
    'too_many_requests',
    `This ${whose} has reached its limit of ${most} invocations ${window}; try again after the time in Retry-After`,
    { retryAfterSeconds: Math.ceil(waitMs / 1000) },
  );
}
