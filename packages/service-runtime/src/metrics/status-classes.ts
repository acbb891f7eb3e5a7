/** Statuses up to 999 are passed on; those outside RFC 9110 section 15 are `other`. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other'] as const;

export function statusClassIndex(status: number): number {
  return Math.min(Math.floor(status / 100), statusClasses.length) - 1;
}
