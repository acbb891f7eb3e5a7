export const disclosureSettings = {
  DISCLOSURE_QUEUE_LIMIT: {
    type: 'integer',
    minimum: 1,
    default: 50_000,
    description:
      'Limit of queued audit rows of disclosures. A row is queued until it is stored in Postgres, and has 1 KiB on average. One Tenant may use half of the limit. If the limit is reached, no value is revealed',
  },
  DISCLOSURE_SPOOL_DIRECTORY: {
    type: 'string',
    minLength: 1,
    description:
      'Folder in which audit rows of disclosures survive if the process is killed. Each process needs a folder of its own. If it is not set, a killed process loses the rows of the last 100 ms, or all rows since Postgres became unavailable',
  },
} as const;

export interface DisclosureSettings {
  DISCLOSURE_QUEUE_LIMIT: number;
  DISCLOSURE_SPOOL_DIRECTORY?: string | undefined;
}
