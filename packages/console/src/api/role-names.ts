import type { Member } from '@sluice/sdk';

export type Role = Member['role'];

/** Names by role, from the one with most rights to the one with fewest. */
export const roleNames: Readonly<Record<Role, string>> = {
  OWNER: 'Owner',
  ADMIN: 'Admin',
  DEVELOPER: 'Developer',
  AUDITOR: 'Auditor',
};
