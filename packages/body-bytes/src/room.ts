export type BodyDirection = 'request' | 'answer';

export interface TenantBytes {
  readonly tenantId: string;
  held: number;
  ofRequests: number;
  /** What its decoders have, or wait for among its requests. */
  ofDecoders: number;
  /** Oldest first. */
  readonly growing: Record<BodyDirection, Set<Claim>>;
  readonly ofGrowing: Record<BodyDirection, number>;
}

export interface Claim {
  readonly tenant: TenantBytes;
  readonly direction: BodyDirection;
  bytes: number;
  mostBytes: number;
  ofDecoders: number;
}

/** The last part of the memory is for Tenants that use less than this part of their limit. */
const partForSmall = 1 / 16;
const smallPart = 1 / 64;

/**
 * A Tenant may use as much as it leaves free: by default half of the memory alone, a third beside another such Tenant.
 */
export class Room {
  readonly #processBytes: number;
  readonly #tenantBytes: number;
  /** Requests leave a part for responses: a buffered request waits for its response, which waits for nothing. */
  readonly #partOf: Record<BodyDirection, number>;
  readonly #turns: Record<BodyDirection, Set<TenantBytes>> = { request: new Set(), answer: new Set() };
  readonly #ofGrowing: Record<BodyDirection, number> = { request: 0, answer: 0 };
  held = 0;
  #ofRequests = 0;

  constructor(processBytes: number, tenantBytes: number, requestPart: number) {
    this.#processBytes = processBytes;
    this.#partOf = { request: requestPart, answer: 1 - requestPart };
    this.#tenantBytes = Math.min(tenantBytes, processBytes);
  }

  mostOfOne(direction: BodyDirection): number {
    const ofProcess = this.#processBytes * (1 - partForSmall);
    return Math.floor(Math.min(this.#tenantBytes, ofProcess) * this.#partOf[direction]);
  }

  /**
   * Whether `claim` may take `more` bytes now. Bodies grow while they arrive, so several can each hold a part and wait
   * for the rest. If any of them could take what is free, small bodies would starve a large one, and bodies that
   * together fill the memory would wait for each other until all are refused. Therefore memory is kept free for one
   * growing body at a time: the oldest of its Tenant, and of these the `next`, chosen among Tenants in rotation. It is
   * judged as if every other growing body held nothing, because these may have to wait for it. Invariant: what `next`
   * lacks is free, or will be once the bodies that no longer grow have ended, so at least one growing body can always
   * finish. A Tenant below `smallPart` uses the last `partForSmall`, and waits for no `next` of another Tenant.
   */
  fits(claim: Claim, more: number): boolean {
    const { tenant, direction } = claim;
    if (this.held + more > this.#processBytes || tenant.held + more > this.#tenantBytes) return false;
    const isRequest = direction === 'request';
    const bound = isRequest ? this.#partOf.request : 1;
    const ofTenant = (isRequest ? tenant.ofRequests : tenant.held) + more;
    const ofAll = (isRequest ? this.#ofRequests : this.held) + more;
    const leftOfTenant = bound * this.#tenantBytes - ofTenant;
    const left = bound * this.#processBytes - ofAll;
    const eldest = eldestOf(tenant.growing[direction]);
    if (leftOfTenant < 0 || (claim !== eldest && leftOfTenant < missing(eldest))) return false;
    if (ofTenant <= smallPart * this.#tenantBytes) return left >= 0;
    const leftForAll = left - bound * partForSmall * this.#processBytes;
    const next = this.#next(direction);
    if (claim !== next) return leftForAll >= missing(next) && this.#isWithinShare(ofTenant, left);
    const complete = ofTenant - more - tenant.ofGrowing[direction];
    const allComplete = ofAll - more - this.#ofGrowing[direction];
    const target = claim.bytes + more;
    return leftForAll >= 0 && this.#isWithinShare(complete + target, bound * this.#processBytes - allComplete - target);
  }

  /**
   * Whether a large decoder may join the requests that wait for memory, which counts it until {@link endDecoding}.
   * Decoders of a Tenant have at most half of the memory for its requests. Otherwise idle uploads of a few compressed
   * bytes could block all its other requests.
   */
  admitDecoder(claim: Claim, more: number): boolean {
    const most = Math.floor((this.#tenantBytes * this.#partOf.request) / 2);
    const bytes = Math.min(more, most);
    if (claim.tenant.ofDecoders + bytes > most) return false;
    claim.ofDecoders += bytes;
    claim.tenant.ofDecoders += bytes;
    return true;
  }

  endDecoding(claim: Claim): void {
    claim.tenant.ofDecoders -= claim.ofDecoders;
    claim.ofDecoders = 0;
  }

  /** Skips bodies that wait only for others of their own Tenant. */
  #next(direction: BodyDirection): Claim | undefined {
    for (const tenant of this.#turns[direction]) {
      const eldest = eldestOf(tenant.growing[direction]);
      const [bound, used] = direction === 'request' ? [this.#partOf.request, tenant.ofRequests] : [1, tenant.held];
      if (used + missing(eldest) <= bound * this.#tenantBytes) return eldest;
    }
    return undefined;
  }

  /** A Tenant that may use the whole process need not leave anything to others. */
  #isWithinShare(ofTenant: number, left: number): boolean {
    return ofTenant * (this.#processBytes - this.#tenantBytes) <= this.#tenantBytes * left;
  }

  count(claim: Claim, more: number): void {
    const { tenant, direction } = claim;
    claim.bytes += more;
    tenant.held += more;
    this.held += more;
    if (direction === 'request') {
      tenant.ofRequests += more;
      this.#ofRequests += more;
    }
    if (tenant.growing[direction].has(claim)) this.#countGrowing(claim, more);
    this.noteGrowth(claim);
  }

  /** Call when a claim starts to wait, starts to grow, or stops growing. */
  noteGrowth(claim: Claim): void {
    const { tenant, direction, bytes, mostBytes } = claim;
    const growing = tenant.growing[direction];
    const turns = this.#turns[direction];
    const grows = bytes < mostBytes;
    if (grows === growing.has(claim)) return;
    if (grows) {
      growing.add(claim);
      turns.add(tenant);
      this.#countGrowing(claim, bytes);
      return;
    }
    const wasEldest = eldestOf(growing) === claim;
    growing.delete(claim);
    this.#countGrowing(claim, -bytes);
    if (!wasEldest) return;
    turns.delete(tenant);
    if (growing.size > 0) turns.add(tenant);
  }

  #countGrowing({ tenant, direction }: Claim, more: number): void {
    tenant.ofGrowing[direction] += more;
    this.#ofGrowing[direction] += more;
  }
}

function eldestOf(growing: ReadonlySet<Claim>): Claim | undefined {
  return growing.size === 0 ? undefined : growing.values().next().value;
}

function missing(claim: Claim | undefined): number {
  return claim ? claim.mostBytes - claim.bytes : 0;
}
