import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMe } from '../../api/me.ts';
import { useNames } from '../../api/use-names.ts';
import { Soft } from '../../ui/layout.tsx';
import { usePeople } from './use-people.ts';

/** Shows the people and Applications with these ids, of `created_by` for example, by their names. */
export function useWho(ids: readonly (string | undefined)[]): (id: string) => ReactNode {
  const { permissions } = useMe();
  const people = usePeople();
  const applications = useNames(
    'applications',
    ids.filter((id) => !people.has(id ?? '')),
  );
  const seesAll = permissions.includes('tenant:member:read') && permissions.includes('application:read');
  return (id) => {
    const application = applications.get(id);
    const gone = seesAll ? 'deleted' : <code>{id.slice(0, 8)}…</code>;
    return (
      <span title={id}>
        {application ? (
          <Link to="/applications/$id" params={{ id }}>
            {application}
          </Link>
        ) : (
          (people.get(id) ?? <Soft>{gone}</Soft>)
        )}
      </span>
    );
  };
}
