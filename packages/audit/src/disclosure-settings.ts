export const disclosureSettings = {
  DISCLOSURE_QUEUE_LIMIT: {
    type: 'integer',
    minimum: 1,
    default: 50_000,
    description:
      'Rows of disclosures that may wait for Postgres, of 1 KiB on the average; beyond it nothing is disclosed, and ' +
      'beyond half of it nothing of the Tenant whose rows they are',
  },
  DISCLOSURE_SPOOL_DIRECTORY: {
    type: 'string',
    minLength: 1,
    description:
      'Folder, of this process alone, that keeps rows of disclosures until Postgres has them, so that they outlive ' +
      'the process (not the machine); without it they wait in memory, and a process that is killed loses those of its ' +
      'last tenth of a second, or all since Postgres went away',
  },
} as const;

export interface DisclosureSettings {
  DISCLOSURE_QUEUE_LIMIT: number;
  DISCLOSURE_SPOOL_DIRECTORY?: string | undefined;
}
