/** Which way a body goes. */
export type BodyDirection = 'request' | 'answer';

/** What the bodies of one Tenant take. */
export interface TenantBytes {
  readonly tenantId: string;
  held: number;
  ofRequests: number;
  /** Those that may still grow, the eldest first. */
  readonly growing: Record<BodyDirection, Set<Claim>>;
  /** What these hold. */
  readonly ofGrowing: Record<BodyDirection, number>;
}

/** One body: what it takes, and what it may take in the end. */
export interface Claim {
  readonly tenant: TenantBytes;
  readonly direction: BodyDirection;
  bytes: number;
  mostBytes: number;
}

/**
 * The part that requests may take. The rest is for answers: an invocation whose request is held waits for its answer
 * only, and answers wait for nobody, so that some of them always end.
 */
const partOf: Record<BodyDirection, number> = { request: 0.75, answer: 0.25 };

/** The last part of the room is for Tenants that hold little, and how much of a Tenant's bound little is. */
const partForSmall = 1 / 16;
const smallPart = 1 / 64;

/**
 * Counts what bodies take, and decides whether one may take more.
 *
 * No Tenant takes so much that another finds nothing. With the defaults it may hold as much as nobody holds: half of all
 * where it is alone, a third beside one that does the same, and so on, which always leaves a part for the next.
 *
 * What is large is not starved by what is small: among Tenants in turn, and within one from the eldest, one body that
 * still grows is next, and others leave its room to it, unless their Tenant holds little. Several that come at once
 * could hold a part each and wait for the rest of each other for ever; so for the next one only what grows no more counts
 * as held, because that ends without more.
 */
export class Room {
  readonly #processBytes: number;
  readonly #tenantBytes: number;
  /** The Tenants of bodies that still grow, in turn. */
  readonly #turns: Record<BodyDirection, Set<TenantBytes>> = { request: new Set(), answer: new Set() };
  readonly #ofGrowing: Record<BodyDirection, number> = { request: 0, answer: 0 };
  held = 0;
  #ofRequests = 0;

  constructor(processBytes: number, tenantBytes: number) {
    this.#processBytes = processBytes;
    this.#tenantBytes = Math.min(tenantBytes, processBytes);
  }

  /** One body alone is always served, so none is counted with more than this. */
  mostOfOne(direction: BodyDirection): number {
    const ofProcess = this.#processBytes * (1 - partForSmall);
    return Math.floor(Math.min(this.#tenantBytes, ofProcess) * partOf[direction]);
  }

  fits(claim: Claim, more: number): boolean {
    const { tenant, direction } = claim;
    if (this.held + more > this.#processBytes || tenant.held + more > this.#tenantBytes) return false;
    const isRequest = direction === 'request';
    const bound = isRequest ? partOf.request : 1;
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

  /** Whoever waits for others of its own Tenant only is passed over. */
  #next(direction: BodyDirection): Claim | undefined {
    for (const tenant of this.#turns[direction]) {
      const eldest = eldestOf(tenant.growing[direction]);
      const [bound, used] = direction === 'request' ? [partOf.request, tenant.ofRequests] : [1, tenant.held];
      if (used + missing(eldest) <= bound * this.#tenantBytes) return eldest;
    }
    return undefined;
  }

  /** A Tenant that may have all of the process has nothing to leave to others. */
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

  /** Whether it still grows may have changed, or it has begun to wait. */
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
