const countedBytes = 1024;

/** The waiting rows of a Tenant, or of all. */
export class Share {
  readonly tenantId: string;
  rows = 0;
  bytes = 0;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  /** A row that names many tokens counts as several. */
  get count(): number {
    return Math.max(this.rows, Math.ceil(this.bytes / countedBytes));
  }
}

/** How many rows wait, in all and of each Tenant. */
export class WaitingRows {
  readonly #all = new Share('');
  readonly #byTenant = new Map<string, Share>();

  get count(): number {
    return this.#all.count;
  }

  /** Add a row to it at once, because a Tenant without rows is removed. */
  of(tenantId: string): Share {
    let share = this.#byTenant.get(tenantId);
    if (!share) {
      share = new Share(tenantId);
      this.#byTenant.set(tenantId, share);
    }
    return share;
  }

  add(share: Share, bytes: number): void {
    share.rows++;
    share.bytes += bytes;
    this.#all.rows++;
    this.#all.bytes += bytes;
  }

  remove(share: Share, bytes: number): void {
    share.rows--;
    share.bytes -= bytes;
    this.#all.rows--;
    this.#all.bytes -= bytes;
    if (share.rows === 0) this.#byTenant.delete(share.tenantId);
  }
}
