import type { ReactNode } from 'react';
import { Page } from '../../ui/layout.tsx';
import { TabLinks } from '../../ui/tabs.tsx';

const tabs = [
  { name: 'Tenant', link: { to: '/settings' } },
  { name: 'People', link: { to: '/settings/people' } },
  { name: 'Sign-ins', link: { to: '/settings/sign-ins' } },
  { name: 'Keys and usage', link: { to: '/settings/vault' } },
] as const;

export function SettingsPage({ intro, acts, children }: { intro: string; acts?: ReactNode; children: ReactNode }) {
  return (
    <Page title="Settings" intro={intro} acts={acts}>
      <TabLinks label="Settings" tabs={tabs} />
      {children}
    </Page>
  );
}
