import type { Caller } from '@sluice/credentials';
import { singleAddressOf } from '@sluice/hosts';
import { ServiceError } from '@sluice/problems';
import {
  measureLocalDecisions,
  openSharedLimits,
  type SharedLimit,
  type sharedLimitSettings,
} from '@sluice/rate-limits';
import { exportCounter, type Logger, type Runtime } from '@sluice/service-runtime';
import type { Config } from '../config.ts';

/** Limits exist because everybody can see public keys. */
export type PublicTokenConfig = Pick<
  Config,
  keyof typeof sharedLimitSettings | Extract<keyof Config, `PUBLIC_TOKEN${string}`> | 'REDIS_URL' | 'TRUSTED_PROXIES'
>;

interface Written {
  caller: Caller;
  address: () => string;
  tokens: number;
  bodyBytes: number;
}

/** Limits what is written with keys of public Applications, but not with keys of sessions. */
export interface PublicTokenLimits {
  /**
   * A call without tokens counts as one, because it costs Postgres too.
   * @throws {ServiceError} `too_many_requests` with the time to wait.
   */
  count(written: Written): Promise<void>;
}

const windowSeconds = 60;

type LimitName = 'application' | 'application_bytes' | 'address' | 'address_bytes';

type Limit = { name: LimitName; shared: SharedLimit; detail: string } | undefined;

/** Connects to Redis only if there is a limit. */
export function openPublicTokenLimits(
  config: PublicTokenConfig,
  { log, stack, metrics }: Pick<Runtime, 'log' | 'stack' | 'metrics'>,
): PublicTokenLimits {
  const limits = openSharedLimits(config, { log, stack });
  const refusals: Record<LimitName, number> = { application: 0, application_bytes: 0, address: 0, address_bytes: 0 };
  const open = (name: LimitName, points: number, what: string): Limit => {
    if (points === 0) return undefined;
    const shared = limits.limit({ kind: `public_token_${name}`, points, windowSeconds });
    return { name, shared, detail: `${what}; try again after the time in Retry-After` };
  };

  async function count(limit: Limit, id: string, points: number): Promise<void> {
    const waitMs = limit ? await limit.shared.count(id, points) : 0;
    if (!limit || waitMs === 0) return;
    refusals[limit.name]++;
    throw new ServiceError('too_many_requests', limit.detail, {
      retryAfterSeconds: Math.ceil(waitMs / 1000),
      limit: 'public_tokens',
    });
  }

  const { PUBLIC_TOKENS_PER_MINUTE: perApplication, PUBLIC_TOKEN_BYTES_PER_MINUTE: bytesPerApplication } = config;
  const { perAddress, bytesPerAddress } = addressLimitsOf(config, log);
  const ofApplication = 'with one public Application';
  const application = open('application', perApplication, atMost(perApplication, 'tokens', ofApplication));
  const applicationBytes = open(
    'application_bytes',
    bytesPerApplication,
    atMost(bytesPerApplication, 'bytes of tokens', ofApplication),
  );
  const ofAddress = 'with public keys from one address';
  const address = open('address', perAddress, atMost(perAddress, 'tokens', ofAddress));
  const addressBytes = open('address_bytes', bytesPerAddress, atMost(bytesPerAddress, 'bytes of tokens', ofAddress));
  measure(metrics, refusals, () => limits.decidedAlone);

  return {
    async count({ caller, address: addressOf, tokens, bodyBytes }) {
      if (caller.type !== 'public') return;
      const counted = Math.max(1, tokens);
      // The address is counted first, so that a refused address uses up nothing of the Application's limit
      if (address || addressBytes) {
        const from = singleAddressOf(addressOf());
        await count(address, from, counted);
        await count(addressBytes, from, bodyBytes);
      }
      await count(application, caller.id, counted);
      await count(applicationBytes, caller.id, bodyBytes);
    },
  };
}

function atMost(points: number, what: string, where: string): string {
  return `At most ${points} ${what} per minute may be created or changed ${where}`;
}

/** No limits without TRUSTED_PROXIES, because behind an ingress all clients would share its address. */
function addressLimitsOf(config: PublicTokenConfig, log: Logger): { perAddress: number; bytesPerAddress: number } {
  const perAddress = config.PUBLIC_TOKENS_PER_ADDRESS_PER_MINUTE;
  const bytesPerAddress = config.PUBLIC_TOKEN_BYTES_PER_ADDRESS_PER_MINUTE;
  if (config.TRUSTED_PROXIES !== undefined || perAddress + bytesPerAddress === 0)
    return { perAddress, bytesPerAddress };
  const advice =
    'set it to the networks of the proxies in front of this service, or to "none" if clients connect directly';
  log.warn(
    `TRUSTED_PROXIES is not set, so tokens created or changed with public keys are not limited by address; ${advice}`,
  );
  return { perAddress: 0, bytesPerAddress: 0 };
}

function measure(registry: Runtime['metrics'], refusals: Record<LimitName, number>, decidedAlone: () => number): void {
  exportCounter(registry, {
    name: 'sluice_public_token_refusals_total',
    help: 'Requests with public keys that got 429',
    by: 'limit',
    read: () => ({ ...refusals }),
  });
  measureLocalDecisions(registry, decidedAlone);
}
