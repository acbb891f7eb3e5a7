import type { Application, PermissionName } from '@sluice/sdk';
import { Snippet } from '../../code/snippet.tsx';
import { createTokenLines, invokeLines, type Lines, readLines } from '../../code/snippets.ts';
import { useNewestProxy, useNewestToken } from '../../code/use-newest.ts';
import { Card } from '../../ui/layout.tsx';

interface Call {
  needs: PermissionName;
  /** Completes `The call that …`. */
  does: string;
  lines: Lines;
}

/** The first call that the permissions of this Application allow. */
export default function CallWithKey({ application: { permissions, rules } }: { application: Application }) {
  const token = useNewestToken();
  const proxy = useNewestProxy();
  if (token === undefined || proxy === undefined) return null;
  const calls: readonly Call[] = [
    { needs: 'token:create', does: 'creates a token', lines: createTokenLines() },
    { needs: 'token:use', does: 'uses a token', lines: invokeLines({ proxy, tokenId: token?.id }) },
    { needs: 'proxy:read', does: 'lists Proxies', lines: readLines('proxies') },
    { needs: 'application:read', does: 'lists Applications', lines: readLines('applications') },
    { needs: 'report:read', does: 'reads the metrics', lines: readLines('metrics') },
  ];
  const held = new Set([...permissions, ...rules.flatMap((rule) => rule.permissions)]);
  const call = calls.find(({ needs }) => held.has(needs));
  if (!call) return null;
  return (
    <Card
      title="Call with a key of this Application"
      intro="The example reads the key from the environment variable SLUICE_API_KEY."
    >
      <Snippet lines={call.lines} what={`the call that ${call.does}`} />
    </Card>
  );
}
