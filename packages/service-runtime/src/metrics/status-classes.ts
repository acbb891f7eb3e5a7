/** Statuses up to 999 are passed on; those that no class of RFC 9110 section 15 has are `other`. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other'] as const;

/** Position in {@link statusClasses}. */
export function statusClassIndex(status: number): number {
  return Math.min(Math.floor(status / 100), statusClasses.length) - 1;
}
