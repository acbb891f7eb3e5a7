export const disclosureSettings = {
  DISCLOSURE_QUEUE_LIMIT: {
    type: 'integer',
    minimum: 1,
    default: 50_000,
    description:
      'Rows of disclosures, 1 KiB on average, that may wait for Postgres; with more, disclosures are ' +
      'refused. One Tenant may have half',
  },
  DISCLOSURE_SPOOL_DIRECTORY: {
    type: 'string',
    minLength: 1,
    description:
      'Folder of this process alone for rows of disclosures until Postgres has them, so that they survive ' +
      'the process (not the machine). Without it a killed process loses those of its last tenth of a ' +
      'second, or all since Postgres became unavailable',
  },
} as const;

export interface DisclosureSettings {
  DISCLOSURE_QUEUE_LIMIT: number;
  DISCLOSURE_SPOOL_DIRECTORY?: string | undefined;
}
