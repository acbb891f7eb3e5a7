import type { PermissionName } from '@sluice/sdk';
import { type ReactNode, Suspense, useState } from 'react';
import { Button } from './button.tsx';
import { Card } from './layout.tsx';
import { Loading } from './states.tsx';

interface SettingsCardProps {
  /** To change them. */
  needs: PermissionName;
  /** In place of the card, until it calls `onDone`. It may be loaded when it is needed. */
  editor: (onDone: () => void) => ReactNode;
  /** The settings as they are. */
  children: ReactNode;
}

/** The settings of a Proxy, a Reactor or a formula, with a button to change them. */
export function SettingsCard({ needs, editor, children }: SettingsCardProps) {
  const [isEdited, setEdited] = useState(false);
  if (isEdited) return <Suspense fallback={<Loading />}>{editor(() => setEdited(false))}</Suspense>;
  const change = (
    <Button small needs={needs} onClick={() => setEdited(true)}>
      Change
    </Button>
  );
  return (
    <Card title="Settings" acts={change}>
      {children}
    </Card>
  );
}
