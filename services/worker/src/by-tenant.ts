/**
 * Works on each Tenant, by turns until none has more, so that one with much to do keeps none waiting. One that fails stops
 * nothing but itself.
 * @param work on a part of what there is to do; resolves with true where there may be more.
 * @throws {AggregateError} of what failed, when the others are done.
 */
export async function byTenant(
  tenantIds: readonly string[],
  work: (tenantId: string) => Promise<boolean>,
): Promise<void> {
  const errors: unknown[] = [];
  let left = tenantIds;
  while (left.length > 0) {
    const more: string[] = [];
    for (const tenantId of left) {
      try {
        if (await work(tenantId)) more.push(tenantId);
      } catch (error) {
        errors.push(error);
      }
    }
    left = more;
  }
  if (errors.length > 0) {
    throw new AggregateError(errors, `${errors.length} of ${tenantIds.length} Tenants failed; the others are done`);
  }
}
