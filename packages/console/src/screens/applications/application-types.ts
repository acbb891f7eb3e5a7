import type { Application } from '@sluice/sdk';

export type ApplicationType = Application['type'];

/** What each type is for. */
export const applicationTypes: Readonly<Record<ApplicationType, string>> = {
  private: 'Private: servers that keep the key secret and work with tokens',
  public: 'Public: browsers and mobile applications that collect data',
  management: 'Management: tools that manage the Tenant and see no tokens',
};

export function isApplicationType(value: unknown): value is ApplicationType {
  return typeof value === 'string' && Object.hasOwn(applicationTypes, value);
}

export const typeNames = { private: 'Private', public: 'Public', management: 'Management' } as const;
