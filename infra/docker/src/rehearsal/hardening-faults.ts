import type { ComposeService } from './compose-file.ts';

/** Rights and resources that a container has without needing them. */
export function hardeningFaults(service: ComposeService): string[] {
  const { build, image = '', healthcheck, restart, user = '' } = service;
  const isStep = restart === 'no';
  const bounds: Record<string, boolean> = {
    'writes to its root file system': service.read_only === true,
    'keeps capabilities': service.cap_drop?.includes('ALL') === true && !service.cap_add?.length,
    'may gain privileges': service.security_opt?.includes('no-new-privileges:true') === true && !service.privileged,
    'has no limit of processes': Number(service.pids_limit) > 0,
    'has no limit of memory': /^\d+[mg]$/.test(service.mem_limit ?? ''),
    'may be swapped out': service.memswap_limit === service.mem_limit,
    'may leave core dumps': service.ulimits?.core === 0,
    'has no health check': isStep || (healthcheck?.test.length ?? 0) > 1,
    // For our own images the Dockerfile names the user.
    'may run as root': Boolean(build) || !/^(|0|root)(:|$)/.test(user),
  };
  const floating = !build && !/:v?\d+\.\d+/.test(image) ? [`${image} is not pinned to a version`] : [];
  return [...Object.entries(bounds).flatMap(([fault, holds]) => (holds ? [] : [fault])), ...floating];
}
