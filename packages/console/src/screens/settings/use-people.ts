import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { personName } from './roles.ts';

/** Names by id: of the person who is signed in, and of all members if that person may see them. */
export function usePeople(): ReadonlyMap<string, string> {
  const { user, permissions } = useMe();
  const { data } = useQuery({
    queryKey: ['members', 'names'],
    queryFn: ({ signal }) => sluice.members.list({ size: 100 }, { signal }).toArray(),
    enabled: permissions.includes('tenant:member:read'),
  });
  const people = [...(user ? [{ user }] : []), ...(data ?? [])];
  return new Map(people.map((person) => [person.user.id, personName(person)]));
}
