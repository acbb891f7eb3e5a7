import type { PermissionName } from '@sluice/sdk';
import type { ReactNode } from 'react';
import { Card, Page } from './layout.tsx';
import { Guarded } from './states.tsx';

interface ListPageProps {
  /** What the rows are. */
  title: string;
  intro: string;
  needs: PermissionName;
  /** Between the heading and the list. */
  tabs?: ReactNode;
  acts?: ReactNode;
  /** A component, so that nothing is asked for without the right. */
  children: ReactNode;
}

export function ListPage({ title, intro, needs, tabs, acts, children }: ListPageProps) {
  return (
    <Page title={title} intro={intro} acts={acts}>
      {tabs}
      <Card flush>
        <Guarded needs={needs} what={`You cannot see ${title}`}>
          {children}
        </Guarded>
      </Card>
    </Page>
  );
}
