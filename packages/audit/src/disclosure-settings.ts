export const disclosureSettings = {
  DISCLOSURE_QUEUE_LIMIT: {
    type: 'integer',
    minimum: 1,
    default: 50_000,
    description:
      'Rows of disclosures (1 KiB on average) that may wait for Postgres, half of them of one Tenant. Beyond it ' +
      'nothing is disclosed',
  },
  DISCLOSURE_SPOOL_DIRECTORY: {
    type: 'string',
    minLength: 1,
    description:
      'Folder of this process alone where rows of disclosures survive its death. Without it a killed process ' +
      'loses the last 100 ms, or all since Postgres became unavailable',
  },
} as const;

export interface DisclosureSettings {
  DISCLOSURE_QUEUE_LIMIT: number;
  DISCLOSURE_SPOOL_DIRECTORY?: string | undefined;
}
