/**
 * Much work of one Tenant does not delay others. @throws {AggregateError} with the failures of all Tenants, at the end.
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
